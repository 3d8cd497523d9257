import { describe, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { DnsdistDataPlane } from '../../src/dns/dataplane/dnsdist/index.ts';
import { EmbeddedDataPlane } from '../../src/dns/dataplane/embedded/index.ts';
import { atEnd } from './support/atEnd.ts';
import { dataPlaneContract } from './support/dataPlaneContract.ts';
import { FakeDataPlane } from './support/fakeDataPlane.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noDnsdist, startDnsdist } from './support/realDnsdist.ts';

const LOOPBACK = '127.0.0.1';

async function server() {
  const authority = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  atEnd(() => authority.stop());
  return authority;
}

describe('a fake data plane', () => {
  dataPlaneContract(async () => ({ dataPlane: (context) => new FakeDataPlane(context) }));
});

describe('the embedded data plane', () => {
  dataPlaneContract(async () => {
    const options = { listen: [{ host: LOOPBACK, port: 0 }], servers: [await server()] };
    return { dataPlane: (context) => new EmbeddedDataPlane(options, context) };
  });
});

describe('the dnsdist data plane', () => {
  if (noDnsdist) return void it.skip(`needs dnsdist: ${noDnsdist}`, () => {});
  dataPlaneContract(async () => {
    const dnsdist = await startDnsdist(await server());
    atEnd(() => dnsdist.stop());
    const { console, ...options } = { ...dnsdist, consoles: [dnsdist.console] };
    return { dataPlane: (context) => new DnsdistDataPlane(options, context), target: dnsdist };
  });
});
