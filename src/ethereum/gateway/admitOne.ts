import { NotYetAdmitted } from '../jsonrpc/index.ts';

/** Admits one call, once it is known whether it may be. Rejects with RateLimitedError where it may not. */
export async function admitOne(handler: { admit(calls: number): void }): Promise<void> {
  for (;;)
    try {
      return handler.admit(1);
    } catch (error) {
      if (!(error instanceof NotYetAdmitted)) throw error;
      await error.until;
    }
}
