// `promises` of node:fs is loaded at its first use, not at startup.
import { promises as files } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StoredAlerts } from './alertQueue.ts';

const NAME = 'alerts.json';
const FORMAT = 1;
const NOTHING: StoredAlerts = { open: [], waiting: [] };

/** File with pending and firing alerts. It is replaced atomically: a crash leaves the old or the new version. */
export class AlertFile {
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, NAME);
  }

  /** Returns the alerts of the previous run. Rejects if the file is unreadable or has another format. */
  async load(): Promise<StoredAlerts> {
    const text = await files.readFile(this.path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (text === undefined) return NOTHING;
    const { format, open, waiting, recent = [] } = JSON.parse(text) as StoredAlerts & { format?: unknown };
    if (format !== FORMAT || ![open, waiting, recent].every(Array.isArray))
      throw new Error(`not an alert file of format ${FORMAT}`);
    return { open, waiting, recent };
  }

  async save(stored: StoredAlerts): Promise<void> {
    await files.mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const fresh = `${this.path}.new`;
    const file = await files.open(fresh, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify({ format: FORMAT, ...stored }));
      await file.datasync();
    } finally {
      await file.close();
    }
    await files.rename(fresh, this.path);
  }

  /** Renames an unreadable file, so that an operator can inspect it. */
  async setAside(): Promise<void> {
    await files.rename(this.path, `${this.path}.unreadable`);
  }
}
