export interface EnvelopeEntry {
  readonly code: number;
  readonly message: string;
  /** JSON pointer to the invalid member of the request body. */
  readonly source?: { readonly pointer: string };
  readonly error_chain?: readonly EnvelopeEntry[];
  /** Always null. Cloudflare's response to a token verification has this member too. */
  readonly type?: null;
}

export interface ResultInfo {
  readonly page: number;
  readonly per_page: number;
  readonly count: number;
  readonly total_count: number;
  readonly total_pages: number;
}

/** Information on a page of a list with cursors. The last page has no cursor. */
export interface CursorInfo {
  readonly per_page: number;
  readonly count: number;
  readonly cursor?: string;
}

/** Returns the JSON envelope of a successful response of the rules API. `result` is omitted if undefined. */
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
