import pg from 'pg';

/** PostgreSQL's code for a connection that was rejected. */
const REJECTED = '08004';

/**
 * Returns a class of clients for a database with several hosts. A client connects to one host. If that fails, the next
 * client uses the next host. With `isReadWrite`, a host that accepts no writes, such as a standby, counts as failed.
 */
export function hostClient(hosts: readonly pg.ClientConfig[], isReadWrite: boolean): typeof pg.Client {
  let current = 0;
  const connected = async (client: pg.Client, connect: () => Promise<unknown>, index: number) => {
    try {
      await connect();
      if (isReadWrite) await requireWritable(client, hosts[index]);
    } catch (error) {
      if (current === index) current = (index + 1) % hosts.length;
      void client.end().catch(() => undefined);
      throw error;
    }
  };
  return class extends pg.Client {
    readonly #index = current;

    constructor() {
      super(hosts[current]);
      // Without a listener, an error would end the process: the connection may end before the pool listens. Errors are
      // ignored here, because the running statement fails, and the pool removes an idle connection that ended.
      this.on('error', () => undefined);
    }

    // The pool passes a callback, other callers await the promise.
    override connect(callback?: (error: never, client: never) => void): never {
      const done = connected(this, () => super.connect(), this.#index);
      if (callback === undefined) return done as never; // matches both overloads
      const ended = callback as (error?: unknown) => void; // the pool passes a callback for both results
      done.then(() => ended(), ended);
      return undefined as never;
    }
  };
}

async function requireWritable(client: pg.Client, host: pg.ClientConfig | undefined): Promise<void> {
  const { rows } = await client.query(`SELECT current_setting('transaction_read_only') AS is_read_only`);
  if (rows[0]?.is_read_only === 'off') return;
  const reason = `${host?.host}:${host?.port} accepts no writes (target_session_attrs=read-write)`;
  throw Object.assign(new Error(reason), { code: REJECTED });
}
