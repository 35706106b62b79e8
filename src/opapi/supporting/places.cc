// SPDX-License-Identifier: Apache-2.0
// Reading indices and writing to places.
#include "supporting/places.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "kernels/index/hits.h"
#include "kernels/rows/double_rows.h"
#include "kernels/rows/rows.h"
#include "kernels/work/divide_up.h"
#include "supporting/complex.h"
#include "supporting/tree_sum.h"

namespace openaclnn::supporting {

namespace {

/// Whether all of them are in [low, limit), where low is 0 or -limit; never true if one is not. All
/// are looked at, so that there is one branch: what is out of range leaves a sign in one difference
/// or the other, even where it wraps. Of limits beyond 2^62 others may leave one too.
template <class Index>
bool AllWithin(const Index* indices, int64_t n, int64_t low, int64_t limit) {
  const auto above = static_cast<uint64_t>(low), most = static_cast<uint64_t>(limit) - 1;
  uint64_t signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto value = static_cast<uint64_t>(int64_t{indices[i]});
    signs |= (value - above) | (most - value);
  }
  return static_cast<int64_t>(signs) >= 0;
}

}  // namespace

Status IndexReader::Read(std::byte* origin, int64_t limit, bool from_end,
                         std::vector<int64_t>* indices) const {
  indices->resize(static_cast<size_t>(walk.count()));
  int64_t* next = indices->data();
  walk.ForRunsInOrder({origin}, [&](const Walk::Pointers& at, int64_t n) {
    load(at[0], walk.step(0), n, next);
    next += n;
  });
  const int64_t low = from_end ? -limit : 0;
  if (!AllWithin(indices->data(), walk.count(), low, limit)) {
    const auto bad = std::find_if(indices->begin(), indices->end(),
                                  [&](int64_t value) { return value < low || value >= limit; });
    if (bad != indices->end()) {
      const std::string subject = member ? Concat(name, '[', *member, ']') : name;
      return Status(507035, Concat(subject, " value ", bad - indices->begin(), " is ", *bad,
                                   ", expected ", low, " <= value < ", limit));
    }
  }
  if (from_end) {
    for (int64_t& value : *indices) value += value < 0 ? limit : 0;
  }
  return {};
}

int64_t IndexReader::DenseBytes(const Operand& index, int64_t step) {
  const bool integer = index.dtype() == ACL_INT32 || index.dtype() == ACL_INT64;
  return integer && step == BytesOf(index) ? step : 0;
}

Status IndexReader::Check(std::byte* origin, int64_t limit, bool from_end) const {
  const int64_t low = from_end ? -limit : 0;
  std::atomic<bool> within = true;
  const auto check = [&](const Walk::Pointers& at, int64_t n) {
    if (dense_bytes == 8) return AllWithin(reinterpret_cast<int64_t*>(at[0]), n, low, limit);
    if (dense_bytes == 4) return AllWithin(reinterpret_cast<int32_t*>(at[0]), n, low, limit);
    int64_t indices[Walk::kRun];
    load(at[0], walk.step(0), n, indices);
    return AllWithin(indices, n, low, limit);
  };
  walk.ForRuns(
      {origin},
      [&](const Walk::Pointers& at, int64_t n) {
        if (!check(at, n)) within = false;
      },
      dense_bytes > 0 ? walk.count() : Walk::kRun);
  if (within) return {};
  std::vector<int64_t> indices;  // the first one that is not has to be named
  return Read(origin, limit, from_end, &indices);
}

/// Those of a run of hits with one place; of values that are set only the last one counts.
struct Placer::Group {
  int64_t row, place;
  const Hit* hits;
  int64_t count;
  int64_t first_value;  // of the row's values
};

namespace {

constexpr int64_t kColumns = Walk::kRun;  // that are summed together
constexpr int64_t kRowsAtOnce = 4;        // as a fold takes
constexpr int64_t kChunk = 64;            // of the tree

void Scale(double factor, int64_t n, double* row) { DoubleRows().scale(row, 0, factor, n); }
void Scale(int64_t factor, int64_t n, int64_t* row) {
  for (int64_t i = 0; i < n; ++i) row[i] *= factor;
}

/// The rows of a sum: what is there, and values, which may have a factor.
template <class T>
struct Terms {
  const std::byte* there;
  const std::vector<int64_t>& offsets;  // of the values, in bytes
  const std::byte* values;
  int64_t there_step, value_step, width;  // at most kColumns
  LoadRow<T> load;
  T factor;
  bool as_floats;  // dense rows of FLOAT, taken as they are

  int64_t count() const { return static_cast<int64_t>(offsets.size()) + 1; }
  const std::byte* At(int64_t i) const {
    return i == 0 ? there : values + offsets[static_cast<size_t>(i) - 1];
  }
  void Load(int64_t i, T* row) const {
    load(At(i), i == 0 ? there_step : value_step, width, row);
    if (i > 0 && factor != T{1}) Scale(factor, width, row);
  }
};

template <class T>
const RowFold<T>& SumOf() {
  if constexpr (std::is_integral_v<T>) {
    return DoubleRows().integer_sum;
  } else {
    return DoubleRows().sum;
  }
}

/// Terms [begin, end), in sequence. Inline, its rows would be on the stack once for each level of
/// the tree.
template <class T>
[[gnu::noinline]] void SumChunk(const Terms<T>& terms, int64_t begin, int64_t end, T* acc) {
  std::fill_n(acc, terms.width, T{});
  T rows[kRowsAtOnce][kColumns];
  for (int64_t i = begin; i < end; i += kRowsAtOnce) {
    const int64_t n = std::min(kRowsAtOnce, end - i);
    const T* at[kRowsAtOnce];
    const float* floats[kRowsAtOnce];
    for (int64_t r = 0; r < n; ++r) {
      at[r] = rows[r];
      floats[r] = reinterpret_cast<const float*>(terms.At(i + r));
      if (!terms.as_floats) terms.Load(i + r, rows[r]);
    }
    terms.as_floats ? SumOf<T>().float_rows(floats, n, terms.width, acc)
                    : SumOf<T>().rows(at, n, terms.width, acc);
  }
}

/// Chunks [begin, end) of the tree.
template <class T>
void SumChunks(const Terms<T>& terms, int64_t begin, int64_t end, T* acc) {
  if (end - begin == 1) {
    return SumChunk(terms, begin * kChunk, std::min(end * kChunk, terms.count()), acc);
  }
  T right[kColumns];
  const int64_t middle = begin + LeftHalf(end - begin);
  SumChunks(terms, begin, middle, acc);
  SumChunks(terms, middle, end, right);
  SumOf<T>().join(right, terms.width, acc);
}

uint32_t RankOf(const Shape& shape) { return static_cast<uint32_t>(shape.size()); }

Steps InBytes(Shape steps, int64_t bytes) {
  for (int64_t& step : steps) step = WrappingProduct(step, bytes);
  return Steps(std::move(steps));
}

}  // namespace

Placer::Placer(const Operand& out, Placing placing, Slices slices, const Operand& values,
               const Shape& shape)
    : dtype_(PartOf(out.dtype())),
      bytes_(BytesOf(out)),
      placing_(placing),
      rows_(slices.rows.data(), slices.row_steps.data(), RankOf(slices.rows)),
      row_count_(CountOf(slices.rows)),
      moved_(placing == Placing::kSet && out.dtype() != ACL_BOOL) {
  const Steps steps(shape, values);
  const auto lead = static_cast<std::ptrdiff_t>(shape.size() - slices.columns.size());
  from_ = Offsets(shape.data(), steps.bytes.data(), static_cast<uint32_t>(lead));
  columns_ = Walk(slices.columns, {InBytes(slices.column_steps, bytes_),
                                   Steps(Shape(steps.bytes.begin() + lead, steps.bytes.end()))});
}

Placer::Placer(const Operand& out, Slices slices, const Value& value)
    : dtype_(out.dtype()),
      bytes_(BytesOf(out)),
      placing_(Placing::kSet),
      rows_(slices.rows.data(), slices.row_steps.data(), RankOf(slices.rows)),
      row_count_(CountOf(slices.rows)),
      columns_(slices.columns,
               {InBytes(slices.column_steps, bytes_), Steps(Shape(slices.columns.size(), 0))}),
      value_(value) {}

void Placer::Move(const Group& group, std::byte* values, std::byte* out) const {
  std::byte* const from = values + from_(group.first_value + group.hits[group.count - 1].token);
  columns_.ForRunsInOrder({out, from}, [&](const Walk::Pointers& at, int64_t n) {
    CopyStrided(at[1], columns_.step(1) / bytes_, at[0], columns_.step(0) / bytes_, n, bytes_);
  });
}

/// The last one, converted and back.
template <class T>
void Placer::Set(const Group& group, std::byte* values, std::byte* out) const {
  const auto load = LoaderOf<T>(dtype_);
  const auto store = StorerOf<T>(dtype_);
  const int64_t from = from_(group.first_value + group.hits[group.count - 1].token);
  T row[Walk::kRun];
  if (value_) std::fill_n(row, std::min(Walk::kRun, columns_.count()), value_->As<T>(dtype_));
  columns_.ForRunsInOrder({out, values}, [&](const Walk::Pointers& at, int64_t n) {
    if (!value_) load(at[1] + from, columns_.step(1), n, row);
    store(row, n, at[0], columns_.step(0));
  });
}

template <class T>
void Placer::AddElement(const Group& group, const std::byte* values, std::byte* out) const {
  const auto load = LoaderOf<T>(dtype_);
  const T scale = scale_ ? scale_->As<T>() : T{1};
  T total, value;
  TreeSum<T> sum;
  load(out, 0, 1, &total);
  sum.Add(total);
  for (int64_t i = 0; i < group.count; ++i) {
    load(values + from_(group.first_value + group.hits[i].token), 0, 1, &value);
    sum.Add(scale * value);
  }
  total = sum.Total();
  StorerOf<T>(dtype_)(&total, 1, out, 0);
}

template <class T>
void Placer::Add(const Group& group, std::byte* values, std::byte* out) const {
  if (columns_.count() == 1) return AddElement<T>(group, values, out);
  const auto load = LoaderOf<T>(dtype_);
  const auto store = StorerOf<T>(dtype_);
  const T scale = scale_ ? scale_->As<T>() : T{1};
  constexpr int64_t kFloat = sizeof(float);  // of complex ones the parts do not follow each other
  const bool as_floats = dtype_ == ACL_FLOAT && scale == T{1} && columns_.step(0) == kFloat &&
                         columns_.step(1) == kFloat;
  std::vector<int64_t> offsets(static_cast<size_t>(group.count));
  for (int64_t i = 0; i < group.count; ++i) {
    offsets[static_cast<size_t>(i)] = from_(group.first_value + group.hits[i].token);
  }
  columns_.ForRunsInOrder({out, values}, [&](const Walk::Pointers& at, int64_t n) {
    const Terms<T> terms = {at[0], offsets, at[1], columns_.step(0), columns_.step(1),
                            n,     load,    scale, as_floats};
    T sum[kColumns];
    SumChunks(terms, 0, DivideUp(terms.count(), kChunk), sum);
    store(sum, n, at[0], columns_.step(0));
  });
}

template <class T>
void Placer::Combine(const Group& group, std::byte* values, std::byte* out) const {
  placing_ == Placing::kSet ? Set<T>(group, values, out) : Add<T>(group, values, out);
}

void Placer::Place(const Group& group, std::byte* values, std::byte* out) const {
  std::byte* const slice = out + (rows_(group.row) + group.place) * bytes_;
  if (moved_) return Move(group, values, slice);
  DomainOf(dtype_) == Domain::kInteger ? Combine<int64_t>(group, values, slice)
                                       : Combine<double>(group, values, slice);
}

/// Single elements that are set: cheaper than finding places that are equal.
void Placer::InOrder(const std::vector<int64_t>& places, std::byte* values, std::byte* out) const {
  for (int64_t i = 0; i < static_cast<int64_t>(places.size()); ++i) {
    const int64_t place = places[static_cast<size_t>(i)];
    if (moved_) {
      std::memcpy(out + place * bytes_, values + from_(i), static_cast<size_t>(bytes_));
    } else {
      const Hit hit = {place, i};
      Place({0, place, &hit, 1, 0}, values, out);
    }
  }
}

void Placer::operator()(const std::vector<int64_t>& places, std::byte* values,
                        std::byte* out) const {
  const auto count = static_cast<int64_t>(places.size());
  const int64_t width = columns_.count();
  if (count == 0 || row_count_ == 0 || width == 0) return;
  if (placing_ == Placing::kSet && row_count_ * width == 1) return InOrder(places, values, out);
  const auto ends = std::minmax_element(places.begin(), places.end());
  const int64_t lowest = *ends.first, highest = *ends.second;
  std::vector<Hit> unsorted(2 * places.size());
  for (int64_t i = 0; i < count; ++i) unsorted[i] = {places[i] - lowest, i};
  const Hit* const hits = SortHits(unsorted.data(), unsorted.data() + count, count,
                                   static_cast<uint64_t>(highest - lowest) + 1);
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < count; ++i) {
    if (i == 0 || hits[i].row != hits[i - 1].row) begins.push_back(i);
  }
  const auto groups = static_cast<int64_t>(begins.size());
  begins.push_back(count);
  ParallelRows(row_count_ * groups, DivideUp(count, groups) * width, [&](int64_t part) {
    const int64_t row = part / groups, begin = begins[part % groups];
    Place({row, hits[begin].row + lowest, hits + begin, begins[part % groups + 1] - begin,
           row * count},
          values, out);
  });
}

}  // namespace openaclnn::supporting
