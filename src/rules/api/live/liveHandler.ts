import { type Fault, InvalidRule, quoteText } from '../../index.ts';
import { type Authenticator, isAuthorized } from '../http/authenticate.ts';
import type { ApiRequest, ApiResponse } from '../http/request.ts';
import type { LiveUpdates } from './liveUpdates.ts';
import { type Position, parsePosition } from './position.ts';

export const LIVE_PERMISSION = 'dns_protection:read';
const AUDIT_PERMISSION = 'dns_protection:audit';

const HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' };

export function liveHandler(updates: LiveUpdates, authenticator: Authenticator) {
  return async ({ accountId: account, caller, headers, credentials }: ApiRequest): Promise<ApiResponse> => {
    const since = readLastEventId(headers['last-event-id']);
    const isAudited = isAuthorized(caller, account, AUDIT_PERMISSION);
    const isAllowed = async (): Promise<boolean> => {
      const now = await authenticator.authenticateAgain(credentials);
      return (
        isAuthorized(now, account, LIVE_PERMISSION) &&
        (!isAudited || isAuthorized(now, account, AUDIT_PERMISSION))
      );
    };
    const { tokenId, rootId } = caller;
    const body = () => updates.listen({ account, tokenId, rootId, isAudited, since, isAllowed });
    return { body, type: 'text/event-stream', headers: HEADERS };
  };
}

/** Parses a `Last-Event-ID` header. Throws `InvalidRule` unless it is the id of an event of a live stream. */
function readLastEventId(text: string | string[] | undefined): Position | undefined {
  if (text === undefined) return undefined;
  const position = typeof text === 'string' ? parsePosition(text) : undefined;
  if (position !== undefined) return position;
  const got = typeof text === 'string' ? quoteText(text) : 'more than one value';
  const fault: Fault = { message: `Last-Event-ID must be the id of a message of this stream; got ${got}` };
  throw new InvalidRule([fault]);
}
