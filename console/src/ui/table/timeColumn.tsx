import { Time } from '../value/time.tsx';
import type { Column } from './table.tsx';

export const timeColumn = <Row,>(title: string, at: (row: Row) => string, form?: 'clock'): Column<Row> => ({
  title,
  sortKey: at,
  cell: (row) => <Time at={at(row)} form={form ?? 'moment'} />,
});
