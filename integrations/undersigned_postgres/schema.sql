-- The replay store of undersigned. It may be run again, and in a schema of its own through search_path.

CREATE TABLE IF NOT EXISTS undersigned_nonce (
    keyid text NOT NULL,
    nonce text NOT NULL,
    until double precision NOT NULL,
    content text,
    PRIMARY KEY (keyid, nonce)
);

CREATE INDEX IF NOT EXISTS undersigned_nonce_until ON undersigned_nonce (until);

-- How many nonces end in each half minute: of one keyid, whose scope starts with 'key ', and of all.
CREATE TABLE IF NOT EXISTS undersigned_count (
    scope text NOT NULL,
    slot bigint NOT NULL,
    live bigint NOT NULL,
    PRIMARY KEY (scope, slot)
) WITH (fillfactor = 50);

-- The latest end that was forgotten: a claim that would end before it may be one that was forgotten.
CREATE TABLE IF NOT EXISTS undersigned_forgotten (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    until double precision NOT NULL
);

-- Each function gives up a lock that it does not get. The process may be gone that asked, and its session would wait on.
CREATE OR REPLACE FUNCTION undersigned_full(
    its_keyid text, its_now double precision, per_key bigint, total bigint
) RETURNS boolean LANGUAGE sql STABLE SET lock_timeout = '2s' AS $$
    SELECT coalesce(sum(live) FILTER (WHERE scope = 'key ' || its_keyid), 0) >= per_key
        OR coalesce(sum(live) FILTER (WHERE scope = 'all') >= total, false)
    FROM undersigned_count
    WHERE scope IN ('key ' || its_keyid, 'all') AND slot >= floor(its_now / 30)
$$;

CREATE OR REPLACE FUNCTION undersigned_claim(
    its_keyid text, its_nonce text, its_now double precision, its_until double precision, per_key bigint, total bigint,
    its_content text
) RETURNS text LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
    claimed undersigned_nonce%ROWTYPE;
    answer text := 'fresh';
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE 'undersigned_claim needs the isolation level read committed';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- One claim of a keyid at a time, or of all, if there is a cap of all.
    IF total IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('undersigned all', 0));
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('undersigned key ' || its_keyid, 0));
    SELECT * INTO claimed FROM undersigned_nonce WHERE keyid = its_keyid AND nonce = its_nonce;
    IF FOUND THEN
        IF (claimed.content = its_content) IS NOT TRUE THEN
            RETURN 'seen';
        END IF;
        IF its_until <= claimed.until THEN
            RETURN 'same';
        END IF;
        answer := 'same';
        UPDATE undersigned_nonce SET until = its_until WHERE keyid = its_keyid AND nonce = its_nonce;
        UPDATE undersigned_count SET live = live - 1
        WHERE slot = floor(claimed.until / 30) AND (scope = 'key ' || its_keyid OR total IS NOT NULL AND scope = 'all');
    ELSE
        IF EXISTS (SELECT FROM undersigned_forgotten WHERE until >= its_until) THEN
            RETURN 'forgotten';
        END IF;
        IF undersigned_full(its_keyid, its_now, per_key, total) THEN
            RETURN 'full';
        END IF;
        INSERT INTO undersigned_nonce VALUES (its_keyid, its_nonce, its_until, its_content) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN 'seen';
        END IF;
    END IF;
    INSERT INTO undersigned_count AS counted
    SELECT scope, floor(its_until / 30), 1
    FROM (VALUES ('all', total IS NOT NULL), ('key ' || its_keyid, true)) AS scopes (scope, counts)
    WHERE counts
    ON CONFLICT (scope, slot) DO UPDATE SET live = counted.live + 1;
    RETURN answer;
END
$$;

-- Deletes some of the nonces that have ended, and returns how many; one session at a time does it.
-- A process calls it before its first claim, so it also compares the version of what is installed.
CREATE OR REPLACE FUNCTION undersigned_forget(its_now double precision, most integer, its_version integer)
RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
    ended bigint;
    latest double precision;
    gone double precision := extract(epoch FROM clock_timestamp());
BEGIN
    IF its_version <> 4 THEN
        RAISE 'the tables and functions have version 4, and this release of undersigned needs version %: '
            'run python -m undersigned_postgres | psql', its_version;
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('undersigned forget', 0)) THEN
        RETURN 0;
    END IF;
    -- A nonce is deleted when it has ended by the clocks of verifier and server. If they differ by more than a quarter
    -- of an hour, nobody knows which is right, and it is kept for that time.
    gone := CASE WHEN abs(its_now - gone) > 900 THEN its_now - 900 ELSE least(its_now, gone) END;
    -- A claim may have moved the end of one since it was selected, so the end is compared again.
    WITH deleted AS (
        DELETE FROM undersigned_nonce WHERE (keyid, nonce) IN (
            SELECT keyid, nonce FROM undersigned_nonce WHERE until < gone ORDER BY until LIMIT most
        ) AND until < gone RETURNING until
    )
    SELECT count(*), max(until) INTO ended, latest FROM deleted;
    -- The row may be gone: somebody may have truncated the tables.
    INSERT INTO undersigned_forgotten AS forgotten (until) SELECT latest WHERE latest IS NOT NULL
    ON CONFLICT (one) DO UPDATE SET until = greatest(forgotten.until, excluded.until);
    DELETE FROM undersigned_count WHERE (scope, slot) IN (
        SELECT scope, slot FROM undersigned_count WHERE slot < floor(gone / 30) LIMIT most FOR UPDATE SKIP LOCKED
    );
    RETURN ended;
END
$$;
