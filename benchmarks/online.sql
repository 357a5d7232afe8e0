-- What rankine.online.summarize(log, daily=True) asks of a log of events, in DuckDB:
-- a row per user and day with the sums of all six metrics. Identical rows count once,
-- users in two variants are left out, what precedes the first exposure does not count,
-- and a session ends after 30 minutes of silence.
create temp table sums as
with
once as (select distinct * from read_parquet(getvariable('files'))),
people as (
  select user_id, min(variant) as variant, min(timestamp) as first
  from once where variant is not null group by user_id
  having count(distinct variant) = 1
),
kinds as (
  select user_id, p.variant, timestamp, value, cost,
    case event when 'impression' then 1 when 'pageview' then 2 when 'click' then 5
      else 8 end as kind
  from once join people p using (user_id) where timestamp >= p.first
),
begun as (
  select *, case when timestamp - lag(timestamp) over w <= interval 30 minute
    then 0 else 1 end as new
  from kinds window w as (partition by user_id order by timestamp, kind)
),
visits as (
  select *, sum(new) over (partition by user_id order by timestamp, kind
    rows unbounded preceding) as visit
  from begun
),
dwells as (
  select user_id, cast(timestamp as date) as day,
    lead(timestamp) over (partition by user_id, visit order by timestamp) - timestamp as dwell
  from visits where kind = 2
),
pages as (
  select user_id, day, sum(epoch_us(dwell)) / 1e6 as seconds, count(dwell) as timed
  from dwells group by all
),
sessions as (
  select user_id, visit, cast(min(timestamp) as date) as day,
    count(*) filter (kind = 2) as views, count(*) filter (kind >= 5) as acts
  from visits group by user_id, visit
),
of_sessions as (
  select user_id, day, count(*) as sessions,
    count(*) filter (views = 1 and acts = 0) as bounces,
    count(*) filter (acts > 0) as engaged
  from sessions group by all
),
of_events as (
  select user_id, any_value(variant) as variant, cast(timestamp as date) as day,
    count(*) filter (kind = 5) as clicks, count(*) filter (kind = 1) as impressions,
    max(kind = 8)::int as converts,
    sum(cast(value as decimal(18, 6))) filter (kind = 8) as revenue,
    sum(cast(cost as decimal(18, 6))) as cost
  from kinds group by user_id, cast(timestamp as date)
)
select e.*, coalesce(s.sessions, 0) as sessions, coalesce(s.bounces, 0) as bounces,
  coalesce(s.engaged, 0) as engaged, coalesce(p.seconds, 0) as seconds,
  coalesce(p.timed, 0) as timed
from of_events e left join of_sessions s using (user_id, day)
left join pages p using (user_id, day);
