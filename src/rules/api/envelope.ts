/** An entry of `errors` or `messages`. */
export interface EnvelopeEntry {
  readonly code: number;
  readonly message: string;
  /** Where in the body the fault is, as a JSON pointer. */
  readonly source?: { readonly pointer: string };
  readonly error_chain?: readonly EnvelopeEntry[];
  /** Cloudflare's token check has it, always null. */
  readonly type?: null;
}

export interface ResultInfo {
  readonly page: number;
  readonly per_page: number;
  readonly count: number;
  readonly total_count: number;
  readonly total_pages: number;
}

/** Of a list that is read on by a cursor, which the last page has none of. */
export interface CursorInfo {
  readonly per_page: number;
  readonly count: number;
  readonly cursor?: string;
}

/** What every answer of the rules API is. `result` is left out where there is nothing to show. */
export function successEnvelope(
  result?: unknown,
  extra: { messages?: readonly EnvelopeEntry[]; resultInfo?: ResultInfo | CursorInfo } = {},
): string {
  return JSON.stringify({
    ...(result !== undefined && { result }),
    success: true,
    errors: [],
    messages: extra.messages ?? [],
    ...(extra.resultInfo && { result_info: extra.resultInfo }),
  });
}

export function errorEnvelope(errors: readonly EnvelopeEntry[]): string {
  return JSON.stringify({ result: null, success: false, errors, messages: [] });
}
