import { type Config, ConfigError } from '../../config/index.ts';
import { depthOf } from '../../platform/nesting/index.ts';
import { readNamed } from '../../platform/regularFile/index.ts';

/** Names for the console, as `GET /client/v4/gateway/names` returns them. */
export interface Names {
  /** ABIs by address of the contract; `*` applies to all contracts. */
  readonly abis: Readonly<Record<string, readonly object[]>>;
  readonly labels: Readonly<Record<string, string>>;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_LABEL_CHARACTERS = 64;
/** Maximum depth of an ABI. Each struct inside another one needs two levels. */
const MAX_ABI_DEPTH = 64;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The files `console.abis` and `console.labels`, in memory. */
export class NameFiles {
  #names: Names;

  /** Reads the files. Throws `ConfigError`. */
  constructor(options: Config['console']) {
    this.#names = readNames(options);
  }

  get names(): Names {
    return this.#names;
  }

  /** Reads the files again. Throws `ConfigError` if one is wrong. Returns a function that replaces the names. */
  reload(options: Config['console']): () => void {
    const names = readNames(options);
    return () => {
      this.#names = names;
    };
  }
}

function readNames({ abis, labels }: Config['console']): Names {
  let bytesLeft = MAX_BYTES;
  const read = <T>(option: string, path: string | undefined, check: (key: string, value: unknown) => T) => {
    if (path === undefined) return {};
    const wrong = (problem: string) => new ConfigError(`${option}: ${path}: ${problem}`);
    let parsed: unknown;
    try {
      const content = readNamed(path, MAX_BYTES);
      bytesLeft -= content.length;
      parsed = JSON.parse(content.toString());
    } catch (error) {
      throw wrong(error instanceof Error ? error.message : String(error));
    }
    if (bytesLeft < 0) throw wrong('console.abis and console.labels may have 5 MiB in all');
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      throw wrong('must be a JSON object with an address for each member');
    return Object.fromEntries(
      Object.entries(parsed).map(([key, value]) => {
        try {
          return [key.toLowerCase(), check(key, value)];
        } catch (error) {
          throw wrong(error instanceof Error ? error.message : String(error));
        }
      }),
    );
  };
  return { abis: read('console.abis', abis, checkAbi), labels: read('console.labels', labels, checkLabel) };
}

function checkAbi(key: string, value: unknown): readonly object[] {
  if (key !== '*' && !ADDRESS.test(key)) throw new Error(`"${key}" is neither an address nor *`);
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'object' || item === null))
    throw new Error(`the ABI of ${key} must be an array of objects`);
  if (depthOf(value, MAX_ABI_DEPTH) > MAX_ABI_DEPTH)
    throw new Error(`the ABI of ${key} is nested too deeply; allowed: at most ${MAX_ABI_DEPTH} levels`);
  return value;
}

function checkLabel(key: string, value: unknown): string {
  if (!ADDRESS.test(key)) throw new Error(`"${key}" is not an address`);
  if (typeof value !== 'string' || value === '' || value.length > MAX_LABEL_CHARACTERS)
    throw new Error(`the label of ${key} must be text of 1 to ${MAX_LABEL_CHARACTERS} characters`);
  return value;
}
