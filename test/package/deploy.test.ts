import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, type TestContext } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ConfigSchema, optionsOf } from '../../src/config/index.ts';
import { floodgate, root, run } from '../server/support/run.ts';

const deploy = `${root}deploy`;
const folder = mkdtempSync(join(tmpdir(), 'floodgate-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Go downloads nothing during tests. */
const OFFLINE = { GOPROXY: 'off', GOFLAGS: '-mod=readonly', GOWORK: 'off' };
const READER = `${root}test/package/deploy`;

/** Returns the output of a tool for a file or folder of deploy/. Skips the test if the tool is not available. */
async function readBy(tool: 'compose' | 'kustomize', place: string, context: TestContext): Promise<string> {
  const isThere = spawnSync('go', ['list', '-deps', '.'], {
    cwd: READER,
    env: { ...process.env, ...OFFLINE },
  });
  if (isThere.status !== 0)
    context.skip('go or the Go modules of the tools are missing: run go mod download in test/package/deploy');
  const passwords = { CLICKHOUSE_PASSWORD: 'c', POSTGRES_PASSWORD: 'p' };
  const env = { ...OFFLINE, ...passwords, FLOODGATE_UPSTREAM: 'http://node.example:8545' };
  const read = await run('go', ['run', '.', tool, join(deploy, place)], { cwd: READER, env });
  expect(read).toMatchObject({ code: 0, stderr: '' });
  return read.stdout;
}

const files = (readdirSync(deploy, { recursive: true }) as string[]) // strings, because withFileTypes is not set
  .filter((name) => /\.(ya?ml|service)$|Dockerfile$/.test(name));

describe('deploy/', () => {
  it('sets only environment variables that are options', () => {
    const options = optionsOf(ConfigSchema).flatMap(({ variable, fileVariable }) => [variable, fileVariable]);
    const known = new Set([...options, 'FLOODGATE_CONFIG']);
    const set = files.flatMap((name) =>
      [...readFileSync(join(deploy, name), 'utf8').matchAll(/\bFLOODGATE_[A-Z_]+/g)].map(
        ([variable]) => variable,
      ),
    );
    expect(set.length).toBeGreaterThan(8);
    expect(set.filter((variable) => !known.has(variable))).toEqual([]);
  });

  it('has a valid configuration for Kubernetes', async () => {
    const file = join(deploy, 'kubernetes/floodgate.yaml');
    const env = { FLOODGATE_UPSTREAM: 'http://node.example:8545' };
    const checked = await floodgate(['config', 'check', '--config', file], { env, cwd: folder });
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    // The commented-out examples are valid, too.
    const all = join(folder, 'floodgate.yaml');
    writeFileSync(all, readFileSync(file, 'utf8').replaceAll(/^#(?! \S)/gm, ''));
    expect(parse(readFileSync(all, 'utf8')).dns.account).toBe('YOUR-ACCOUNT');
    expect(await floodgate(['config', 'check', '--config', all], { env, cwd: folder })).toMatchObject({
      code: 0,
    });
  });

  it('has a compose file that Compose accepts, and all files that it mounts', async (context) => {
    const { services } = JSON.parse(await readBy('compose', 'docker/compose.yaml', context));
    expect(Object.keys(services).sort()).toEqual([
      'clickhouse',
      'floodgate',
      'grafana',
      'postgres',
      'prometheus',
    ]);
    expect(services.floodgate).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    const mounted = Object.values(
      services as Record<string, { volumes?: { type: string; source: string }[] }>,
    )
      .flatMap(({ volumes = [] }) => volumes)
      .filter(({ type }) => type === 'bind');
    expect(mounted.length).toBeGreaterThan(4);
    for (const { source } of mounted) expect(() => readdirSync(join(source, '..')), source).not.toThrow();
  });

  it('has a Keeper that listens on the port that the servers use, and stores its data in its volume', async (context) => {
    const { configs, services } = JSON.parse(await readBy('compose', 'clickhouse/compose.yaml', context));
    const keeper: string = configs.keeper.content;
    const port = /<tcp_port>(\d+)</.exec(keeper)?.[1];
    expect(configs.cluster.content).toContain(`<node><host>keeper</host><port>${port}</port></node>`);
    expect(keeper).toContain('<listen_host>0.0.0.0</listen_host>');
    const [volume] = services.keeper.volumes;
    for (const [, path] of keeper.matchAll(/_storage_path>(\/[^<]+)</g))
      expect(path).toContain(volume.target);
  });

  it.for(['gateway', 'ingest', 'guard'])(
    'has an overlay for the role %s whose references all exist',
    async (role, context) => {
      const made = await readBy('kustomize', `kubernetes-roles/${role}`, context);
      const resources = parseAllDocuments(made).map((document) => document.toJS());
      const of = (kind: string) => resources.filter((one) => one.kind === kind);
      const [set] = of('StatefulSet');
      const { labels } = set.spec.template.metadata;
      expect(labels['floodgate/role']).toBe(role);
      expect(of('Service').map(({ metadata }) => metadata.name)).toContain(set.spec.serviceName);
      for (const { spec } of of('Service')) expect(labels).toEqual(spec.selector);
      for (const { spec } of of('PodDisruptionBudget')) expect(labels).toEqual(spec.selector.matchLabels);
      expect(set.spec.selector.matchLabels).toEqual(labels);
      const [term] =
        set.spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
      expect(term.labelSelector.matchLabels).toEqual(labels);
      const [monitor] = of('ServiceMonitor');
      const watched = of('Service').filter(({ metadata }) => metadata.labels !== undefined);
      expect(watched.map(({ metadata }) => metadata.labels)).toEqual([monitor.spec.selector.matchLabels]);
      expect(watched[0].spec.ports.map(({ name }: { name: string }) => name)).toContain(
        monitor.spec.endpoints[0].port,
      );
      const [container] = set.spec.template.spec.containers;
      const ports = container.ports.map(({ name }: { name: string }) => name);
      for (const { spec } of of('Service'))
        for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort);
      const maps = set.spec.template.spec.volumes.flatMap((volume: { configMap?: { name: string } }) =>
        volume.configMap === undefined ? [] : [volume.configMap.name],
      );
      expect(of('ConfigMap').map(({ metadata }) => metadata.name)).toEqual(maps);
      const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
      for (const { value } of container.env.filter(({ name }: { name: string }) =>
        /_(FILE|CONFIG)$/.test(name),
      ))
        expect(
          mounts.some((path: string) => value.startsWith(`${path}/`)),
          value,
        ).toBe(true);
    },
  );

  it('has manifests that kustomize accepts and that conform to the schemas of Kubernetes', async (context) => {
    const made = await readBy('kustomize', 'kubernetes', context);
    const resources = parseAllDocuments(made).map((document) => document.toJS());
    expect(resources.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'Namespace',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'Service',
      'StatefulSet',
    ]);
    const pod = resources.find(({ kind }) => kind === 'StatefulSet').spec.template;
    for (const { kind, spec } of resources) {
      const selector = { Service: spec?.selector, NetworkPolicy: spec?.podSelector?.matchLabels }[
        kind as string
      ];
      if (selector !== undefined) expect(pod.metadata.labels).toMatchObject(selector);
    }
    const file = join(folder, 'made.yaml');
    writeFileSync(file, made);
    if (spawnSync('kubernetes-validate', ['--help']).status !== 0)
      context.skip('the manifests were built but not validated: pip install kubernetes-validate');
    const valid = await run('kubernetes-validate', ['--strict', file]);
    expect(valid.code, valid.stdout + valid.stderr).toBe(0);
    // The validator does detect errors.
    writeFileSync(file, made.replace('readOnlyRootFilesystem', 'readOnlyRootFileSystem'));
    expect((await run('kubernetes-validate', ['--strict', file])).code).not.toBe(0);
  });
});
