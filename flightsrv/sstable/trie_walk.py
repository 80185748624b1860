"""All nodes of a trie, in order, by the kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from flightsrv.errors import CorruptSSTableError, Where
from flightsrv.kernels.status import DONE, OUTPUT_FULL
from flightsrv.kernels.tries import BRANCH_NUMBERS, Branch, Nodes, walk
from flightsrv.sstable.cursor import Cursor
from flightsrv.sstable.trie import MAX_PATH_BYTES, node

NODES_A_CALL = 16_384
PATH_BYTES_A_CALL = 4 * MAX_PATH_BYTES


def walk_nodes(
    data: npt.NDArray[np.uint8],
    path: str,
    root: int,
    floor: int,
    stop: int,
    *,
    every_node: bool = False,
    path_limit: int = MAX_PATH_BYTES,
) -> Iterator[Nodes]:
    """The nodes of the trie whose root is at offset `root` and which lies between `floor` and `stop`, some at a time.

    data: the file from its start on, and kernels.vint.SLACK bytes behind `stop`. every_node: not only those that have a
    payload. path_limit: how many of the last bytes of a path are wanted. What is yielded is valid until the next is
    asked for. Raises CorruptSSTableError, when all before it has been yielded, at a node that is damaged.
    """
    branch, nodes = new_branch(), new_nodes(NODES_A_CALL, PATH_BYTES_A_CALL)
    status = OUTPUT_FULL
    while status == OUTPUT_FULL:
        numbers = [np.int64(number) for number in (root, floor, stop, every_node, path_limit)]
        status, offset, made, _ = walk(data, *numbers, branch, nodes, np.int64(0), np.int64(0))
        if made:
            yield Nodes._make([*(column[:made] for column in nodes[:-1]), nodes.paths])
    if status != DONE:
        raise damaged_node(data, path, int(offset), stop)


def damaged_node(data: npt.NDArray[np.uint8], path: str, offset: int, stop: int) -> CorruptSSTableError:
    """What is wrong with a node that the kernel calls damaged."""
    try:
        node(Cursor(data[:stop], path, offset))
    except CorruptSSTableError as error:
        return error
    what = "it lies outside of its trie, shares bytes with others, or is below too many of them"
    return CorruptSSTableError(what, Where(path, offset=offset, field="node"))


def new_branch() -> Branch:
    """For a walk through one trie; numbers[:] = 0 makes it new again."""
    longest = MAX_PATH_BYTES + 1
    node, slot = np.empty((2, longest), np.int64)
    return Branch(node, slot, np.empty(longest, np.uint8), np.zeros(BRANCH_NUMBERS, np.int64))


def new_nodes(count: int, path_bytes: int) -> Nodes:
    """Room for so many nodes and bytes of their paths."""
    columns = np.empty((len(Nodes._fields) - 1, count), np.int64)
    return Nodes._make([*columns, np.empty(path_bytes, np.uint8)])
