import type { OperatorRoute } from '../../rules/api/index.ts';

/** A flood against the guard of this server, to try it. Only `floodgate dev` has one. */
export interface TestFlood {
  /** Time at which the running flood ends; undefined while none runs. */
  readonly endsOn: string | undefined;
  /** Starts the flood. Returns why it cannot be started; undefined if it was. */
  start(): string | undefined;
}

/** Returns the route that starts the flood. The response contains the time of its end. */
export const testFloodRoute = (flood: TestFlood): OperatorRoute => ({
  method: 'POST',
  path: '/test-flood',
  permission: 'dns_protection:write',
  handle: () => flood.start() ?? { result: { ends_on: flood.endsOn } },
});
