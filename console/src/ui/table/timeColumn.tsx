import { Time } from '../value/time.tsx';
import type { Column } from './table.tsx';

/** Column of times, by which rows can be sorted. */
export const timeColumn = <Row,>(title: string, at: (row: Row) => string, form?: 'clock'): Column<Row> => ({
  title,
  sortKey: at,
  cell: (row) => <Time at={at(row)} form={form ?? 'moment'} />,
});
