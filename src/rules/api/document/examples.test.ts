import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { ruleFormat } from '../../index.ts';
import { namedSchemas } from './envelopeSchemas.ts';
import { examplesOf } from './examples.ts';

describe('the examples of the OpenAPI document', () => {
  const schemas = namedSchemas(ruleFormat);
  const examples = examplesOf(ruleFormat);
  const bodies = Object.keys(schemas).filter((name) => /(?:Answer|Creation|Patch)$/.test(name));

  it.each(bodies.filter((name) => name !== 'ErrorAnswer'))('contain a valid %s', (name) => {
    const ajv = new Ajv2020({ strict: false });
    // Depending on the loader, the default export of this CommonJS module is wrapped or not.
    (addFormats as unknown as { default?: typeof addFormats.default }).default?.(ajv);
    ajv.addSchema({ $id: 'document', components: { schemas } });
    ajv.validate({ $ref: `document#/components/schemas/${name}` }, examples[name as keyof typeof examples]);
    expect(ajv.errors).toBeNull();
  });
});
