import { RpcError } from '../../jsonrpc/index.ts';
import type { Param } from './row.ts';

/**
 * Returns a function that converts parameters to canonical form: hex strings in one spelling, defaults filled in,
 * trailing nulls removed. It throws RpcError for the first missing, superfluous or invalid parameter.
 */
export function paramsReader(params: readonly Param[]): (given: readonly unknown[]) => unknown[] {
  // Parameter names for error messages. They are built once, because `read` needs them even without an error.
  const paths = params.map(({ name }, i) => `params[${i}] (${name})`);
  const required = params.filter(({ optional }) => optional !== true).length;
  return (given) => {
    if (given.length > params.length) throw wrongCount(params, `at most ${params.length}`, `${given.length}`);
    if (given.length < required) {
      const count = required < params.length ? `at least ${required}` : `${required}`;
      const missing = params[given.length];
      const what = missing ? `: ${paths[given.length]} must be ${missing.kind.allowed}; it is missing` : '';
      throw wrongCount(params, count, given.length + what);
    }
    const read: unknown[] = [];
    // The loop uses an index, because an iterator or a closure would cost as much as reading a small filter.
    for (let i = 0; i < params.length; i++) {
      const param = params[i];
      const value = given[i];
      if (param === undefined) break;
      read.push(
        (isLeftOut(param, value) ? param.defaultValue : param.kind.read(value, paths[i] ?? '')) ?? null,
      );
    }
    while (read.length > 0 && read[read.length - 1] === null) read.pop();
    return read;
  };
}

const isLeftOut = (param: Param, value: unknown): boolean =>
  (value === undefined || value === null) &&
  param.optional === true &&
  (value === undefined || param.refusesNull !== true);

function wrongCount(params: readonly Param[], count: string, given: string): RpcError {
  const elements = count.endsWith(' 1') || count === '1' ? 'element' : 'elements';
  const names = params.length === 0 ? '' : ` (${params.map(({ name }) => name).join(', ')})`;
  return new RpcError('invalidParams', `params must have ${count} ${elements}${names}; it has ${given}`);
}
