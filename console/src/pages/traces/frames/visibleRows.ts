import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Rows that are rendered above and below the window, so that the list is complete while it scrolls. */
const SPARE_ROWS = 30;

interface VisibleRows {
  /** Rendered rows: from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
  /** Heights of the rows that are not rendered. */
  readonly abovePx: number;
  readonly belowPx: number;
  readonly reveal: (index: number) => void;
}

/**
 * Returns the rows of a long list that are near the window. All rows (`.frame`) have one height, except that the row
 * `tall` also has details (`.frame-details`).
 */
export function useVisibleRows(list: RefObject<HTMLElement>, count: number, tall: number): VisibleRows {
  const topPx = useSignal(0);
  const heights = useRef({ rowPx: 40, detailsPx: 0 });
  useEffect(() => {
    const look = () => {
      const rowPx = list.current?.querySelector<HTMLElement>('.frame')?.offsetHeight;
      const detailsPx = list.current?.querySelector<HTMLElement>('.frame-details')?.offsetHeight;
      heights.current = {
        rowPx: rowPx || heights.current.rowPx,
        detailsPx: detailsPx ?? heights.current.detailsPx,
      };
      // A multiple of ten rows, so that not each event renders the list.
      const stepPx = 10 * heights.current.rowPx;
      topPx.value = Math.floor(-(list.current?.getBoundingClientRect().top ?? 0) / stepPx) * stepPx;
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [count, tall]);
  const { rowPx, detailsPx } = heights.current;
  const offsetOf = (index: number) => index * rowPx + (tall >= 0 && index > tall ? detailsPx : 0);
  const rowAt = (px: number) =>
    tall < 0 || px < offsetOf(tall + 1)
      ? Math.min(Math.floor(px / rowPx), tall < 0 ? count : tall)
      : Math.floor((px - detailsPx) / rowPx);
  const first = Math.max(0, Math.min(rowAt(topPx.value), count) - SPARE_ROWS);
  const end = Math.min(count, rowAt(topPx.value + innerHeight) + SPARE_ROWS);
  return {
    first,
    end,
    abovePx: offsetOf(first),
    belowPx: offsetOf(count) - offsetOf(end),
    reveal: (index) => {
      const top = (list.current?.getBoundingClientRect().top ?? 0) + offsetOf(index);
      if (top < 0 || top + rowPx > innerHeight) scrollBy({ top: top - innerHeight / 3 });
    },
  };
}
