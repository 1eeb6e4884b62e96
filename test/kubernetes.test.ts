import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Namespace, Secret, Service } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig, variables } from '../packages/server/src/config/config.ts';

/** The manifests are as the API of Kubernetes describes them, fit together, and configure the service of this repository. */
const root = join(import.meta.dirname, '..');
const folder = join(root, 'deploy/kubernetes');

/** Their `validate` runs the schema on `this`. @throws Error for each fault */
type Kind = { readonly prototype: { validate(this: object): void } };
const kinds: Readonly<Record<string, Kind>> = {
  ...{ ConfigMap, Deployment, Namespace, NetworkPolicy, PodDisruptionBudget, Secret, Service },
};

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly command: readonly string[];
  readonly envFrom: readonly object[];
  readonly ports: readonly [{ readonly containerPort: number }];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: object;
  readonly volumeMounts: readonly [{ readonly mountPath: string }, ...object[]];
}
interface Pods {
  readonly kind: string;
  readonly spec: {
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly initContainers: readonly [Container];
        readonly containers: readonly [Container];
        readonly securityContext: object;
        readonly automountServiceAccountToken: boolean;
        readonly terminationGracePeriodSeconds: number;
      };
    };
  };
}

const manifest = <T>(file: string): T => parse(readFileSync(join(folder, file), 'utf8')) as T;
const manifests = (await readdir(folder)).filter(
  (file) => file.endsWith('.yaml') && file !== 'kustomization.yaml',
);

/**
 * What the schema finds, and what it never looks at: it takes every unknown field, so that a misspelled one would be lost. It
 * reads each field that it knows.
 */
function faultsOf(value: { readonly kind: string }): string[] {
  const kind = kinds[value.kind];
  if (!kind) return [`no schema of ${value.kind}`];
  const unread: (() => string[])[] = [];
  const watched = (object: object, path: string): object => {
    const seen = new Set<PropertyKey>();
    const children = new Map<PropertyKey, object>();
    unread.push(() =>
      Object.keys(object)
        .filter((name) => !seen.has(name))
        .map((name) => `${path}/${name} is unknown`),
    );
    return new Proxy(object, {
      get(target, name) {
        seen.add(name);
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'object' || member === null || !Object.hasOwn(target, name)) return member;
        const child = children.get(name) ?? watched(member, `${path}/${String(name)}`);
        children.set(name, child);
        return child;
      },
    });
  };
  try {
    kind.prototype.validate.call(watched(value, ''));
  } catch (error) {
    return [(error as Error).message];
  }
  return unread.flatMap((names) => names());
}

describe('manifests', () => {
  it.each(manifests)('%s is as its kind is described', (file) => {
    expect(faultsOf(manifest<{ kind: string }>(file))).toEqual([]);
  });

  it('would fail for a misspelled field, and for a wrong type', () => {
    const { spec, ...others } = manifest<Pods>('deployment.yaml');
    Object.assign(spec.template.spec.containers[0], { readinesProbe: {} });
    expect(faultsOf({ ...others, spec } as Pods)).toEqual([
      '/spec/template/spec/containers/0/readinesProbe is unknown',
    ]);
    Object.assign(spec, { replicas: 'two' });
    expect(faultsOf({ ...others, spec } as Pods).join()).toContain('replicas');
  });

  it('are all in the kustomization but the secret, and concern the same pods', () => {
    const { resources } = manifest<{ resources: string[] }>('kustomization.yaml');
    expect([...resources, 'secret.example.yaml'].sort()).toEqual([...manifests].sort());
    const label = { 'app.kubernetes.io/name': 'doorward' };
    const { template, selector } = manifest<Pods>('deployment.yaml').spec;
    const selected = (file: string) => manifest<{ spec: object }>(file).spec;
    expect([template.metadata.labels, selector.matchLabels]).toEqual([label, label]);
    expect(selected('service.yaml')).toMatchObject({ selector: label });
    expect(selected('disruption-budget.yaml')).toMatchObject({ selector: { matchLabels: label } });
    expect(selected('network-policy.yaml')).toMatchObject({ podSelector: { matchLabels: label } });
  });
});

describe('the network policy', () => {
  interface Rule {
    readonly from?: readonly Peer[];
    readonly to?: readonly Peer[];
  }
  interface Peer {
    readonly namespaceSelector?: object;
    readonly podSelector?: object;
    readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  }
  const { spec } = manifest<{ spec: { ingress: Rule[]; egress: Rule[] } }>('network-policy.yaml');

  it('admits chosen pods only, not whole namespaces', () => {
    for (const { from = [] } of spec.ingress) {
      expect(from.length).toBeGreaterThan(0);
      for (const peer of from)
        expect(peer).toMatchObject({ namespaceSelector: {}, podSelector: { matchLabels: {} } });
    }
  });

  it('names where the service may connect to, and lets it reach private addresses only by name', () => {
    for (const { to = [] } of spec.egress) {
      expect(to.length).toBeGreaterThan(0);
      for (const { namespaceSelector, ipBlock } of to) {
        if (namespaceSelector) continue;
        expect(ipBlock?.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']));
      }
    }
  });
});

describe('the pods', () => {
  const pod = manifest<Pods>('deployment.yaml').spec.template.spec;
  const [migrate] = pod.initContainers;
  const [main] = pod.containers;

  it('run the version of this repository, and migrate with the same image and configuration', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect([migrate.image, main.image]).toEqual([`doorward:${version}`, `doorward:${version}`]);
    expect(migrate.envFrom).toEqual(main.envFrom);
    expect(main.envFrom).toEqual([
      { configMapRef: { name: 'doorward' } },
      { secretRef: { name: 'doorward' } },
    ]);
    expect(migrate.command.join(' ')).toBe('node packages/server/dist/doorward.js migrate');
  });

  it('may nothing that the service does not need', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(pod.automountServiceAccountToken).toBe(false);
    for (const container of [migrate, main])
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  });

  it('are asked at routes that the service has, on the port of the image', () => {
    const reference = readFileSync(join(root, 'docs/reference/health.md'), 'utf8');
    for (const probe of [main.startupProbe, main.livenessProbe, main.readinessProbe]) {
      expect(reference).toContain(`- REST: \`GET ${probe.httpGet.path}\``);
      expect(probe.httpGet.port).toBe('http');
    }
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    expect(dockerfile).toContain(`PORT=${main.ports[0].containerPort} `);
    expect(dockerfile).toContain(`DATA_DIR=${main.volumeMounts[0].mountPath}\n`);
  });

  it('are stopped after the pause and the grace of the service', () => {
    const { shutdownGraceSeconds } = loadConfig({}).http;
    const needed = main.lifecycle.preStop.sleep.seconds + shutdownGraceSeconds;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(needed);
  });

  it('are configured by variables of the service, with which it starts in production', () => {
    const { data: settings } = manifest<{ data: Record<string, string> }>('config.yaml');
    const { stringData: secrets } = manifest<{ stringData: Record<string, string> }>('secret.example.yaml');
    const existing = new Set<string>(variables.map(({ name }) => name));
    const environment = { ...settings, ...secrets };
    expect(Object.keys(environment).filter((name) => !existing.has(name))).toEqual([]);
    const filled = Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, value.replaceAll(/<(\w+)>/g, '$1')]),
    );
    const inProduction = {
      ...{ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '4000', DATA_DIR: '/data', ...filled },
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    // The proxies that may choose client addresses have no default: without them nothing starts.
    expect(() => loadConfig(inProduction)).toThrow('SECURITY_TRUSTED_PROXIES');
    const config = loadConfig({ ...inProduction, SECURITY_TRUSTED_PROXIES: '10.244.7.0/28' });
    expect(config).toMatchObject({ production: true, mode: 'postgres', mail: { provider: 'smtp' } });
    // What is secret is in the secret.
    expect(Object.keys(settings).filter((name) => /KEY|SECRET|TOKEN|PASSWORD|_URL$/.test(name))).toEqual([
      'APP_URL',
    ]);
  });
});
