/** The part of the console that surrounds each page: navigation, account menu and live status. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Redirect, Route, Router, Switch, useLocation } from 'wouter-preact';
import { isAttacked } from './attackSign.ts';
import { isKeyListOpen, isPaletteOpen, listenForKeys } from './keyboard.ts';
import { unknownSince } from './live.ts';
import { BASE } from './navigate.ts';
import { type Page, pages, visiblePages } from './pages/index.ts';
import { Palette } from './search/palette.tsx';
import { isRestoring, session, signInFailure } from './session.ts';
import { SignIn } from './signIn.tsx';
import { AccountMenu } from './ui/accountMenu.tsx';
import { AttackBar } from './ui/attackBar.tsx';
import { EmptyState } from './ui/emptyState.tsx';
import { ErrorBox } from './ui/errorBox.tsx';
import { ConfirmHost } from './ui/form/confirm.tsx';
import { KeyList } from './ui/keyList.tsx';
import { Link } from './ui/link.tsx';
import { LiveDot } from './ui/liveDot.tsx';
import { ToastHost } from './ui/toast.tsx';

/** Number of pages in the navigation bar of a narrow window. The account menu lists the others. */
const STRIP_PAGES = 5;

export function Frame() {
  useEffect(() => listenForKeys(), []);
  if (session.value === undefined) return isRestoring.value ? <Restoring /> : <SignIn />;
  return (
    <Router base={BASE}>
      <a class="skip" href="#page">
        Skip to content
      </a>
      <header class="bar">
        <span class="brand">Floodgate</span>
        <nav class="places" aria-label="Pages">
          {visiblePages.value.map((page, i) => (
            <NavLink key={page.path} page={page} isInStrip={i < STRIP_PAGES} />
          ))}
        </nav>
        <button
          type="button"
          class="who"
          onClick={() => (isPaletteOpen.value = true)}
          title="Search (Ctrl+K)"
        >
          Search
        </button>
        <AccountMenu />
        <LiveDot />
      </header>
      <AttackBar />
      {/* The bar and the headline have figures that change each second, so only this text is announced. */}
      <p class="unseen" role="status">
        {isAttacked.value && 'Attack in progress'}
      </p>
      <Main>
        <Switch>
          {visiblePages.value.map(({ path, component: Component }) => (
            <Route key={path} path={path === '/' ? '/' : `${path}/*?`}>
              <Component />
            </Route>
          ))}
          <Route>
            <NotFound />
          </Route>
        </Switch>
      </Main>
      <ToastHost />
      <ConfirmHost />
      {isPaletteOpen.value && <Palette />}
      {isKeyListOpen.value && <KeyList />}
    </Router>
  );
}

/** Takes the focus if the link that opened the page is gone, for users of keyboards and screen readers. */
function Main({ children }: { readonly children: ComponentChildren }) {
  const element = useRef<HTMLElement>(null);
  const [location] = useLocation();
  useEffect(() => {
    if (document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [location]);
  return (
    <main ref={element} id="page" tabIndex={-1} class={unknownSince.value && 'no-contact'}>
      {children}
    </main>
  );
}

function Restoring() {
  return (
    <main class="sign-in" id="page" aria-busy="true">
      {signInFailure.value && <ErrorBox failure={signInFailure.value} />}
    </main>
  );
}

function NavLink({ page, isInStrip }: { readonly page: Page; readonly isInStrip: boolean }) {
  const [location] = useLocation();
  const isHere =
    page.path === '/' ? location === '/' : location === page.path || location.startsWith(`${page.path}/`);
  const isUnderAttack = isAttacked.value;
  useEffect(() => {
    if (isHere) document.title = `${isUnderAttack ? '▲ Attack · ' : ''}${page.title} · Floodgate`;
  }, [isHere, page.title, isUnderAttack]);
  return (
    <Link to={page.path} class={isInStrip ? 'place' : 'place not-in-strip'} current={isHere}>
      {page.title}
    </Link>
  );
}

function NotFound() {
  const [location] = useLocation();
  const page = pages.find(({ path }) => location === path || location.startsWith(`${path}/`));
  const [first] = visiblePages.value;
  // The start page after signing in, with a token that does not allow it.
  if (location === '/' && first !== undefined) return <Redirect to={first.path} replace />;
  if (page !== undefined)
    return (
      <EmptyState isPage title={`Your token does not allow ${page.title}`}>
        This page requires the permission <code>{page.permission}</code>
        {page.orPermission && (
          <>
            {' '}
            or <code>{page.orPermission}</code>
          </>
        )}
        . Sign in with a token that has it.
      </EmptyState>
    );
  return (
    <EmptyState isPage title="Page not found">
      <Link to="/">Go to the page Now</Link>
    </EmptyState>
  );
}
