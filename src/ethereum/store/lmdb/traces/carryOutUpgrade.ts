import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PendingUpgrade, UpgradeProgress } from '../../../../platform/storeFile/index.ts';

/** Hears of the upgrade of an index that an older version wrote. */
export interface UpgradeObserver {
  /** It begins or goes on here: once at the start, then after each step. */
  progressed(progress: UpgradeProgress): void;
  ended(): void;
  /** It is given up until the next start. Everything can be read and written all the same. */
  failed(error: unknown): void;
}

export interface UpgradeDependencies {
  /** Carries out a step as one transaction, between changes and not beside one. */
  readonly commit: (step: () => void) => Promise<void>;
  readonly isClosing: () => boolean;
  readonly observer: UpgradeObserver | undefined;
}

/** Upgrades step by step: between two of them changes are applied, and reads are answered all the time. Never rejects. */
export async function carryOutUpgrade(
  upgrade: PendingUpgrade,
  { commit, isClosing, observer }: UpgradeDependencies,
): Promise<void> {
  try {
    for (let { progress } = upgrade; progress !== undefined; { progress } = upgrade) {
      observer?.progressed(progress);
      if (isClosing()) return;
      await commit(() => upgrade.step());
      await nextTurn();
    }
    observer?.ended();
  } catch (error) {
    observer?.failed(error);
  }
}
