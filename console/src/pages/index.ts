/** All pages of the console, in the order of the navigation bar. */
import './attacks.css';
import './rules.css';
import './zones.css';
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { may } from '../session.ts';
import { Access } from './access/index.tsx';
import { Activity } from './activity/index.tsx';
import { AlertsPage } from './alerts/index.tsx';
import { AttackDetail } from './attacks/detail.tsx';
import { AttackList } from './attacks/list.tsx';
import { Fleet } from './fleet/index.tsx';
import { Lists } from './lists/index.tsx';
import { Nodes } from './nodes/index.tsx';
import { Now } from './now.tsx';
import { recordsPage } from './recordsPage.tsx';
import { RuleCreationForm } from './rules/creation.tsx';
import { RuleDetail } from './rules/detail.tsx';
import { RuleList } from './rules/list.tsx';
import { Traces } from './traces/index.tsx';
import { TryItPage } from './tryIt.tsx';
import { PolicyCreationForm } from './zones/creation.tsx';
import { PolicyDetail } from './zones/detail.tsx';
import { ZoneList } from './zones/list.tsx';

export interface Page {
  /** Path of the page below /console. The rest of the URL selects its content, such as an attack in `/attacks/ID`. */
  readonly path: string;
  readonly title: string;
  /** Letter that opens the page after `g`. */
  readonly key: string;
  /** Permission without which the page is hidden; undefined if the page requires none. */
  readonly permission: string | undefined;
  readonly orPermission?: string;
  readonly component: ComponentType;
}

const Attacks = recordsPage(AttackList, AttackDetail);
const Rules = recordsPage(RuleList, RuleDetail, RuleCreationForm);
const Zones = recordsPage(ZoneList, PolicyDetail, PolicyCreationForm);

const GUARD = 'dns_protection:read';

export const pages: readonly Page[] = [
  { path: '/', title: 'Now', key: 'n', permission: GUARD, component: Now },
  { path: '/attacks', title: 'Attacks', key: 'a', permission: GUARD, component: Attacks },
  { path: '/rules', title: 'Rules', key: 'r', permission: GUARD, component: Rules },
  { path: '/zones', title: 'Zones', key: 'z', permission: GUARD, component: Zones },
  { path: '/traces', title: 'Traces', key: 't', permission: undefined, component: Traces },
  { path: '/lists', title: 'Lists', key: 'l', permission: GUARD, component: Lists },
  { path: '/activity', title: 'Activity', key: 'i', permission: 'dns_protection:audit', component: Activity },
  { path: '/alerts', title: 'Alerts', key: 'w', permission: 'health:read', component: AlertsPage },
  { path: '/fleet', title: 'Fleet', key: 'f', permission: GUARD, component: Fleet },
  { path: '/nodes', title: 'Nodes', key: 'o', permission: 'health:read', component: Nodes },
  {
    path: '/access',
    title: 'Access',
    key: 'c',
    component: Access,
    permission: 'tokens:read',
    orPermission: 'keys:read',
  },
  { path: '/try', title: 'Try', key: 'y', permission: undefined, component: TryItPage },
];

export const visiblePages = computed(() =>
  pages.filter(
    ({ permission, orPermission }) => may(permission) || (orPermission !== undefined && may(orPermission)),
  ),
);
