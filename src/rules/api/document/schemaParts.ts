/** Schemas from which those of the OpenAPI document are built. */
import Type, { type TProperties } from 'typebox';

/** Returns the schema of an object that has no other members. */
export const closedObject = <Members extends TProperties>(members: Members) =>
  Type.Object(members, { additionalProperties: false });

export const describedObject = <Members extends TProperties>(description: string, members: Members) =>
  Type.Object(members, { additionalProperties: false, description });

/** Returns a reference to a named schema of the document. */
export const ref = <Name extends string>(name: Name) => Type.Ref(`#/components/schemas/${name}` as const);

/** Returns the schema of an object of numbers by any names. */
export const counts = (description: string) =>
  Type.Unsafe<Record<string, number>>(Type.Object({}, { additionalProperties: Type.Number(), description }));

export const orNull = <Kind extends 'number' | 'string'>(type: Kind, keywords: object) =>
  Type.Unsafe<(Kind extends 'number' ? number : string) | null>({ type: [type, 'null'], ...keywords });

export const count = (description?: string) =>
  Type.Number({ minimum: 0, ...(description !== undefined && { description }) });

export const moment = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) });

export const text = (description: string) => Type.String({ description });

/** Returns the schema of one of some words. */
export const oneOf = <Word extends string>(words: readonly Word[], description?: string) =>
  Type.Enum([...words], { type: 'string', ...(description !== undefined && { description }) });
