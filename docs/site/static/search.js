// SPDX-License-Identifier: Apache-2.0
// The words of a query are cut as docs/site/searching.py cuts those of the pages. It is loaded after
// Sphinx's searchtools.js, of which it replaces what drops numbers and knows no Chinese.
"use strict";

{
  const chinese = /^[\u3400-\u9fff]/;
  const runs = /[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[\p{Letter}\p{Number}_])+/gu;
  const shortestNumber = 3;
  const also = JSON.parse(document.getElementById("also").textContent);
  let written = [];

  const words = (run) =>
    chinese.test(run) && run.length > 1
      ? Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2))
      : [run];

  Search._parseQuery = (query) => {
    const stemmer = new Stemmer();
    written = (query.toLowerCase().match(runs) ?? []).filter(
      (run) => !stopwords.has(run) && !(/^\d+$/.test(run) && run.length < shortestNumber),
    );
    const terms = written
      .flatMap(words)
      .map((word) => (chinese.test(word) ? word : stemmer.stemWord(word)));
    written = [...written.flatMap((run) => also[run] ?? []), ...written];
    localStorage.setItem("sphinx_highlight_terms", written.join(" "));
    return [query, new Set(terms), new Set(), new Set(written), new Set(written)];
  };

  // Sphinx takes a page that lacks terms shorter than three letters, as all Chinese ones are.
  const termsSearch = Search.performTermsSearch;
  Search.performTermsSearch = (terms, excluded) => {
    const { docnames, terms: inText, titleterms: inTitles } = Search._index;
    const has = (term, file) =>
      [inText, inTitles].some(
        (index) => Object.hasOwn(index, term) && [index[term]].flat().includes(file),
      );
    const pairs = [...terms].filter((term) => chinese.test(term));
    return termsSearch(terms, excluded).filter(([name]) =>
      pairs.every((pair) => has(pair, docnames.indexOf(name))),
    );
  };

  // A result shows the text around the last of the words that it has: the query as it was written.
  const summary = Search.makeSearchSummary;
  Search.makeSearchSummary = (text, terms, anchor) => summary(text, [...terms, ...written], anchor);
}
