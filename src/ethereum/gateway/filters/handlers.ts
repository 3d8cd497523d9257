import type { Handler } from '../method.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import type { PolledFilters } from './polledFilters.ts';

/** The methods of HTTP filters. Their parameters are canonical. */
export const newFilter =
  (filters: PolledFilters): Handler =>
  async ([filter], context) =>
    Buffer.from(JSON.stringify(await filters.make(filter as LogFilter, context))); // what the parameter's kind made

export const newBlockFilter =
  (filters: PolledFilters): Handler =>
  async (_params, context) =>
    Buffer.from(JSON.stringify(await filters.make(undefined, context)));

export const filterChanges =
  (filters: PolledFilters): Handler =>
  async ([id], context) =>
    Buffer.from(`[${(await filters.changes(String(id), context)).join(',')}]`);

export const filterLogs =
  (filters: PolledFilters): Handler =>
  ([id], context) =>
    filters.logs(String(id), context);

export const uninstallFilter =
  (filters: PolledFilters): Handler =>
  ([id]) => {
    const ended = filters.uninstall(String(id));
    return ended instanceof Promise ? ended.then(asJson) : asJson(ended);
  };

const asJson = (ended: boolean): Buffer => Buffer.from(String(ended));
