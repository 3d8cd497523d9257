/** The boxes of a flame graph: the width of a frame is its share of the gas, its row is its depth. */
import type { Frame } from './callTree.ts';
import { gasUsedOf } from './describe.ts';

interface Box {
  readonly frame: Frame;
  /** Left edge and width, in percent of the whole graph. */
  readonly left: number;
  readonly width: number;
}

/** Narrower boxes are not visible. */
const MIN_WIDTH = 0.2;
const MAX_LEVELS = 12;
const MAX_BOXES = 1_000;
const WHOLE = 100;

/** Returns the boxes of the graph, level by level; none if the gas of the root is unknown. */
export function flameOf(root: Frame): Box[] {
  const all = Number(gasUsedOf(root.trace) ?? 0n);
  if (all === 0) return [];
  const boxes: Box[] = [{ frame: root, left: 0, width: WHOLE }];
  for (const { frame, left, width } of boxes) {
    if (frame.depth + 1 >= MAX_LEVELS) break;
    let used = 0;
    for (const child of frame.children) {
      // The children of a frame can have used more gas than the frame, because of refunds.
      const share = Math.min((Number(gasUsedOf(child.trace) ?? 0n) / all) * WHOLE, width - used);
      if (share >= MIN_WIDTH && boxes.length < MAX_BOXES)
        boxes.push({ frame: child, left: left + used, width: share });
      used += share;
    }
  }
  return boxes;
}
