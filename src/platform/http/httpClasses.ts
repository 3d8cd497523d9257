import type { IncomingMessage, ServerResponse } from 'node:http';
import { TrackedResponse } from './unsent/trackedResponse.ts';
import { UpgradableRequest } from './webSocket/upgradableRequest.ts';

/** Floodgate's request and response classes, as options for node's servers. Node's types allow no other classes. */
export const HTTP_CLASSES = {
  IncomingMessage: UpgradableRequest as unknown as typeof IncomingMessage,
  ServerResponse: TrackedResponse as unknown as typeof ServerResponse,
};
