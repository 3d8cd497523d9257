import { type TObject, type TSchema, Type } from 'typebox';

/**
 * Option of the configuration: a leaf of the schema. The variable (`FLOODGATE_LOG_LEVEL`) and the flag
 * (`--log-level`) are derived from the option's path (`log.level`).
 */
export interface Option {
  readonly path: string;
  readonly variable: string;
  /** Variable with the path of a file that contains the value. Exists for secrets, and for URLs with secrets. */
  readonly fileVariable?: string;
  readonly flag: string;
  readonly schema: TSchema & OptionNotes;
}

/** Additional schema properties of an option. */
export interface OptionNotes {
  readonly description?: string;
  readonly default?: unknown;
  /** Unit of the value, for the help text. */
  readonly unit?: string;
  /** True if the value must not appear in logs and error messages. */
  readonly secret?: boolean;
  /** True for URLs, which may contain a key or password. Error messages show at most host and port. */
  readonly isAddress?: boolean;
  /** True if the option can be set only in the file, because its value is an object. */
  readonly fileOnly?: boolean;
  /** Variable of a standard such as OpenTelemetry. Used if no variable of Floodgate sets the option. */
  readonly standardVariable?: string;
  /** Text about the allowed values. Replaces the text derived from the schema if that would be hard to understand. */
  readonly allowed?: string;
}

/** Returns all options of a schema, depth first. */
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
