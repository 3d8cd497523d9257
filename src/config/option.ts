import { type TObject, type TSchema, Type } from 'typebox';

/**
 * One option of the configuration: a leaf of the schema. Its name in the file is its path (`log.level`); its variable
 * and its flag follow from the path (`FLOODGATE_LOG_LEVEL`, `--log-level`), so there is one name to learn.
 */
export interface Option {
  /** Path in the file, for example `log.level`. */
  readonly path: string;
  readonly variable: string;
  /** The variable that names a file with the value, for what should not stand in a variable: secrets, and URLs that may hold one. */
  readonly fileVariable?: string;
  readonly flag: string;
  readonly schema: TSchema & OptionNotes;
}

/** What an option's schema says besides its type. */
export interface OptionNotes {
  readonly description?: string;
  readonly default?: unknown;
  /** What a number counts, for the help text. */
  readonly unit?: string;
  /** Never shown: not in a log, not in an error. */
  readonly secret?: boolean;
  /** URLs, which may hold a key or a password: of one that is refused at most host and port are shown. */
  readonly isAddress?: boolean;
  /** Can only be set in the file: it has members of its own. */
  readonly fileOnly?: boolean;
  /** A variable of a standard that is read where none of ours is set. */
  readonly standardVariable?: string;
  /** What is allowed, in words, where the schema's own words would not be understood. */
  readonly allowed?: string;
}

/** All options of a schema, depth first, in the order in which they are written. */
export function optionsOf(schema: TObject, path: readonly string[] = []): Option[] {
  return Object.entries(schema.properties).flatMap(([key, member]): Option[] => {
    const memberPath = [...path, key];
    if (Type.IsObject(member)) return optionsOf(member, memberPath);
    const words = memberPath
      .flatMap((part) => part.replace(/([A-Z])/g, ' $1').split(' '))
      .map((w) => w.toLowerCase());
    const schema: TSchema & OptionNotes = member;
    const variable = `FLOODGATE_${words.join('_').toUpperCase()}`;
    const mayBeInFile = (schema.secret || schema.isAddress) && !schema.fileOnly;
    return [
      {
        path: memberPath.join('.'),
        variable,
        ...(mayBeInFile && { fileVariable: `${variable}_FILE` }),
        flag: `--${words.join('-')}`,
        schema,
      },
    ];
  });
}
