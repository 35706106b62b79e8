// SPDX-License-Identifier: Apache-2.0
// Task groups: captured tasks that later launches replace, so that a graph gets other operands.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "ascendcl/graph/open_captures.h"

namespace openaclnn {

/// Begins a group: launches on the captured stream belong to it until it ends.
Status BeginTaskGroup(const Stream& stream);
/// *handle: the group, which lives as long as the graph.
Status EndTaskGroup(const Stream& stream, void** handle);
/// Begins an update: launches on the stream are to replace the tasks of the group.
Status BeginTaskUpdate(const std::shared_ptr<Stream>& stream, const void* group);
/// Enqueues the replacement on the stream. Whatever the end is, the stream runs again what is
/// launched on it.
Status EndTaskUpdate(const std::shared_ptr<Stream>& stream);

// The following functions are called under the lock of the captures.

/// Refuses the end of a capture in which a group has not ended.
Status CheckGroupsEnded(const Capture& capture);

/// The refusal of a task that no update can replace.
std::string CannotBeUpdated(const Graph::Node& node);

/// Adds the node to the graph and to the group. If it throws, the node is still the caller's.
const Graph::Node& AddToGroup(Graph& graph, std::vector<GroupedTask>* group, Graph::Node&& node);

/// Keeps a launch on the stream of an update. Where it fails, the node is still the caller's.
Status KeepForUpdate(Update& update, Graph::Node&& node);

/// The stream is about to go away: its update is none any more. Needs no memory.
void LeaveUpdate(Captures& all, const Stream& stream, std::list<Update>* left) noexcept;

}  // namespace openaclnn
