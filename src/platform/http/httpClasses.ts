import type { IncomingMessage, ServerResponse } from 'node:http';
import { TrackedResponse } from './unsent/trackedResponse.ts';
import { UpgradableRequest } from './webSocket/upgradableRequest.ts';

/** What node makes requests and responses of, as its servers take it: their types know no other classes than node's own. */
export const HTTP_CLASSES = {
  IncomingMessage: UpgradableRequest as unknown as typeof IncomingMessage,
  ServerResponse: TrackedResponse as unknown as typeof ServerResponse,
};
