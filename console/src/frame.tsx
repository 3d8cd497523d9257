/** What is around every page: where you are, who you are, and whether the picture is live. */
import { useEffect } from 'preact/hooks';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { isKeyListOpen, listenForKeys } from './keyboard.ts';
import { BASE } from './navigate.ts';
import { type Page, pages, shownPages } from './pages/index.ts';
import { session, signInAgain } from './session.ts';
import { SignIn } from './signIn.tsx';
import { ConfirmPlace } from './ui/confirm.tsx';
import { EmptyState } from './ui/emptyState.tsx';
import { KeyList } from './ui/keyList.tsx';
import { Link } from './ui/link.tsx';
import { LiveDot } from './ui/liveDot.tsx';
import { UndoPlace } from './ui/undo.tsx';
import { Who } from './ui/who.tsx';

/** Places in the strip at the bottom of a narrow window; the rest is in the menu behind who you are. */
const STRIP_PAGES = 4;

export function Frame() {
  useEffect(() => {
    void signInAgain();
    return listenForKeys();
  }, []);
  if (session.value === undefined) return <SignIn />;
  return (
    <Router base={BASE}>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <header class="bar">
        <span class="brand">Floodgate</span>
        <nav class="places" aria-label="Pages">
          {shownPages.value.map((page, i) => (
            <Place key={page.path} page={page} isInStrip={i < STRIP_PAGES} />
          ))}
        </nav>
        <Who />
        <LiveDot />
      </header>
      <main id="page" tabIndex={-1}>
        <Switch>
          {shownPages.value.map(({ path, component: Component }) => (
            <Route key={path} path={path === '/' ? '/' : `${path}/*?`}>
              <Component />
            </Route>
          ))}
          <Route>
            <Missing />
          </Route>
        </Switch>
      </main>
      <UndoPlace />
      <ConfirmPlace />
      {isKeyListOpen.value && <KeyList />}
    </Router>
  );
}

function Place({ page, isInStrip }: { readonly page: Page; readonly isInStrip: boolean }) {
  const [location] = useLocation();
  const isHere =
    page.path === '/' ? location === '/' : location === page.path || location.startsWith(`${page.path}/`);
  useEffect(() => {
    if (isHere) document.title = `${page.title} · Floodgate`;
  }, [isHere, page.title]);
  return (
    <Link to={page.path} class={isInStrip ? 'place' : 'place not-in-strip'} current={isHere}>
      {page.title}
    </Link>
  );
}

function Missing() {
  const [location] = useLocation();
  const page = pages.find(({ path }) => location === path || location.startsWith(`${path}/`));
  if (page !== undefined)
    return (
      <EmptyState title={`Your token does not show ${page.title}`}>
        It needs the permission <code>{page.permission}</code>. Sign in with a token that has it.
      </EmptyState>
    );
  return (
    <EmptyState title="There is no such page">
      <Link to="/">Back to what happens now</Link>
    </EmptyState>
  );
}
