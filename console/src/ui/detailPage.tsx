import type { ComponentChildren } from 'preact';
import { ErrorBox } from './errorBox.tsx';
import { Link } from './link.tsx';
import type { Reads } from './useLoaded.ts';

interface DetailPageProps<T> {
  readonly of: Reads<T>;
  readonly what: string;
  /** Path and title of the list that contains it. */
  readonly list: readonly [path: string, title: string];
  readonly children: (value: T) => ComponentChildren;
}

export function DetailPage<T>({ of: { value, failure, again }, what, list, children }: DetailPageProps<T>) {
  return (
    <div class="page">
      <p class="way-back">
        <Link to={list[0]}>← {list[1]}</Link>
      </p>
      {value === undefined && (
        <h1 class="quiet">
          {failure ? what.charAt(0).toUpperCase() + what.slice(1) : `Reading the ${what} …`}
        </h1>
      )}
      {failure && <ErrorBox failure={failure} retry={again} isOver={value !== undefined} />}
      {value !== undefined && children(value)}
    </div>
  );
}
