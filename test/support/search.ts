/** Minutes of a longer search, in which random tests try all cases. Default: 0, a shorter search. */
export const SEARCH_MINUTES = Number(process.env['FLOODGATE_SEARCH_MINUTES'] ?? 0);

/** Whether the tests run in CI. */
export const isCi = !['', 'false', undefined].includes(process.env['CI']);

/**
 * Returns the size of a search, a history or a load: `all` if FLOODGATE_SEARCH_MINUTES is set, otherwise a smaller one,
 * also in CI. The smaller one still finds the faults that the test is for.
 */
export const sizeInSearch = <T>(all: T, { ordinary }: { readonly ordinary: T }): T =>
  SEARCH_MINUTES > 0 ? all : ordinary;
