import { NotYetAdmitted } from '../../jsonrpc/index.ts';

/** Admits one call, and waits if the decision is pending. Rejects with RateLimitedError if a limit is exceeded. */
export async function admitOne(handler: { admit(calls: number): void }): Promise<void> {
  for (;;)
    try {
      return handler.admit(1);
    } catch (error) {
      if (!(error instanceof NotYetAdmitted)) throw error;
      await error.until;
    }
}
