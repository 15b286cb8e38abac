using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Playbacks;

/// <summary>Which receipts are read. Null matches everything.</summary>
/// <param name="From">Earliest start.</param>
/// <param name="To">End of the starts, exclusive.</param>
internal sealed record ReceiptQuery(DateTimeOffset? From, DateTimeOffset? To, Guid? File, string? Login);

/// <summary>Sums of the receipts of a provider or a month: bytes from providers for playbacks and for scans, and the number of playbacks.</summary>
/// <param name="Key">The id of the provider, or the month as <c>2026-11</c>.</param>
internal sealed record ReceiptSum(string Key, long Playback, long Scans, long Playbacks);

/// <summary>Reads and writes receipts. Pages are newest first, and stay stable while receipts come and go (ADM-4).</summary>
internal sealed class ReceiptStore(SluiceDatabase database, TimeProvider time)
{
    // Rows of one deletion, so that other writes wait only briefly.
    private const int PruneBatch = 5_000;

    private const string Filter = "started >= @From AND started < @To AND (@File = '' OR file = @File) AND (@Login = '' OR login = @Login)";

    private const string Insert =
        """
        INSERT INTO receipt (id, scan, month, started, ended, file, path, login, client, player, files, sent, memory, disk, received, waits, waited, longest, gaps,
          seeks, first_byte)
        VALUES (@Id, @Scan, @Month, @Started, @Ended, @File, @Path, @Login, @Client, @Player, @Files, @Sent, @Memory, @Disk, @Received, @Waits, @Waited, @Longest,
          @Gaps, @Seeks, @FirstByte)
        ON CONFLICT (id) DO UPDATE SET
        """;

    private const string ReplacePlayback =
        Insert
        + """
         ended = excluded.ended, sent = excluded.sent, memory = excluded.memory, disk = excluded.disk, received = excluded.received, waits = excluded.waits,
          waited = excluded.waited, longest = excluded.longest, gaps = excluded.gaps, seeks = excluded.seeks, first_byte = excluded.first_byte
        RETURNING number
        """;

    private const string AddScan =
        Insert
        + """
         ended = max(receipt.ended, excluded.ended), files = receipt.files + excluded.files, sent = receipt.sent + excluded.sent,
          memory = receipt.memory + excluded.memory, disk = receipt.disk + excluded.disk, received = receipt.received + excluded.received,
          waits = receipt.waits + excluded.waits, waited = receipt.waited + excluded.waited, longest = max(receipt.longest, excluded.longest),
          gaps = receipt.gaps + excluded.gaps, seeks = receipt.seeks + excluded.seeks
        RETURNING number
        """;

    private const string InsertShare = "INSERT INTO receipt_provider (receipt, provider, bytes) VALUES (@Receipt, @Provider, @Bytes) ON CONFLICT (receipt, provider) DO UPDATE SET";

    /// <summary>Replaces the receipts of playbacks, and adds to those of scans, in one transaction.</summary>
    public Task WriteAsync(IReadOnlyList<Receipt> receipts, CancellationToken cancellationToken) => database.WriteAsync(
        connection =>
        {
            foreach (var receipt in receipts)
            {
                var number = connection.QuerySingle<long>(receipt.IsScan ? AddScan : ReplacePlayback, RowOf(receipt));
                connection.Execute(
                    receipt.IsScan ? $"{InsertShare} bytes = receipt_provider.bytes + excluded.bytes" : $"{InsertShare} bytes = excluded.bytes",
                    receipt.Bytes.Providers.Select(share => new ShareRow(number, share.Key.ToString(), share.Value)));
            }

            return receipts.Count;
        },
        cancellationToken);

    /// <summary>Deletes receipts that started before a time, a limited number at once. Returns whether none are left.</summary>
    public async Task<bool> PruneAsync(DateTimeOffset before, CancellationToken cancellationToken)
    {
        var oldest = before.ToUnixTimeMilliseconds();
        var old = await database.ReadAsync(
            connection => (List<long>)
            [
                .. connection.Query<long>("SELECT number FROM receipt WHERE started < @oldest ORDER BY started LIMIT @most", new { oldest, most = PruneBatch }),
            ],
            cancellationToken);
        if (old.Count > 0)
        {
            var list = SqlDialect.List(old);
            await database.WriteAsync(connection => connection.Execute($"DELETE FROM receipt WHERE {SqlDialect.In("number", "@list")}", new { list }), cancellationToken);
        }

        return old.Count < PruneBatch;
    }

    public Task<RowPage<Receipt>> ReadAsync(ReceiptQuery query, RowPlace? after, int limit, CancellationToken cancellationToken) => database.ReadAsync(
        connection =>
        {
            var filter = FilterOf(query);
            var rows = new ListQuery("path", []);
            rows.Add(Filter, ("@From", filter.From), ("@To", filter.To), ("@File", filter.File), ("@Login", filter.Login));
            var page = rows.Read(connection, "receipt", RowOrder.ByRank("started", "number", descends: true), after, limit);
            var receipts = Load(connection, SqlDialect.List(page.Items.Select(static row => row.Number).ToList()));
            return page.Of(row => receipts[row.Number]);
        },
        cancellationToken);

    /// <summary>Sums the bytes of each provider, the largest first.</summary>
    public Task<IReadOnlyList<ReceiptSum>> SumByProviderAsync(ReceiptQuery query, CancellationToken cancellationToken) => SumAsync(
        $"""
        SELECT provider AS Key, sum(CASE WHEN scan = 0 THEN bytes ELSE 0 END) AS Playback, sum(CASE WHEN scan = 1 THEN bytes ELSE 0 END) AS Scans,
          sum(CASE WHEN scan = 0 THEN 1 ELSE 0 END) AS Playbacks
        FROM receipt_provider JOIN receipt ON number = receipt WHERE {Filter} GROUP BY provider ORDER BY sum(bytes) DESC, provider
        """,
        query,
        cancellationToken);

    /// <summary>Sums the bytes of each month in the server's time zone, the newest first.</summary>
    public async Task<IReadOnlyList<ReceiptSum>> SumByMonthAsync(ReceiptQuery query, CancellationToken cancellationToken)
    {
        var sums = await SumAsync(
            $"""
            SELECT CAST(month AS TEXT) AS Key, sum(CASE WHEN scan = 0 THEN received ELSE 0 END) AS Playback, sum(CASE WHEN scan = 1 THEN received ELSE 0 END) AS Scans,
              sum(CASE WHEN scan = 0 THEN 1 ELSE 0 END) AS Playbacks
            FROM receipt WHERE {Filter} GROUP BY month ORDER BY month DESC
            """,
            query,
            cancellationToken);
        return [.. sums.Select(static sum => sum with { Key = sum.Key.Insert(sum.Key.Length - 2, "-") })];
    }

    private Task<IReadOnlyList<ReceiptSum>> SumAsync(string sql, ReceiptQuery query, CancellationToken cancellationToken) => database.ReadAsync(
        connection => (IReadOnlyList<ReceiptSum>)[.. connection.Query<ReceiptSum>(sql, FilterOf(query))], cancellationToken);

    private static Dictionary<long, Receipt> Load(DbConnection connection, string list)
    {
        var shares = connection.Query<ShareRow>(
                $"SELECT receipt AS Receipt, provider AS Provider, bytes AS Bytes FROM receipt_provider WHERE {SqlDialect.In("receipt", "@list")}", new { list })
            .ToLookup(static share => share.Receipt);
        var rows = connection.Query<ReceiptRow>(
            $"""
            SELECT number AS Number, id AS Id, scan AS Scan, month AS Month, started AS Started, ended AS Ended, file AS File, path AS Path, login AS Login,
              client AS Client, player AS Player, files AS Files, sent AS Sent, memory AS Memory, disk AS Disk, received AS Received, waits AS Waits,
              waited AS Waited, longest AS Longest, gaps AS Gaps, seeks AS Seeks, first_byte AS FirstByte
            FROM receipt WHERE {SqlDialect.In("number", "@list")}
            """,
            new { list });
        return rows.ToDictionary(static row => row.Number, row => row.Read(shares[row.Number]));
    }

    private static FilterRow FilterOf(ReceiptQuery query) => new(
        query.From?.ToUnixTimeMilliseconds() ?? long.MinValue, query.To?.ToUnixTimeMilliseconds() ?? long.MaxValue, query.File?.ToString() ?? "", query.Login ?? "");

    private ReceiptRow RowOf(Receipt receipt)
    {
        var local = TimeZoneInfo.ConvertTime(receipt.StartedAt, time.LocalTimeZone);
        return new ReceiptRow
        {
            Id = receipt.Id,
            Scan = receipt.IsScan ? 1 : 0,
            Month = (local.Year * 100) + local.Month,
            Started = receipt.StartedAt.ToUnixTimeMilliseconds(),
            Ended = receipt.EndedAt.ToUnixTimeMilliseconds(),
            File = receipt.File?.ToString() ?? "",
            Path = receipt.Path,
            Login = receipt.Login,
            Client = receipt.Client,
            Player = receipt.Player,
            Files = receipt.Files,
            Sent = receipt.Sent,
            Memory = receipt.Bytes.Memory,
            Disk = receipt.Bytes.Disk,
            Received = receipt.Bytes.Received,
            Waits = receipt.Waits.Count,
            Waited = receipt.Waits.TotalMs,
            Longest = receipt.Waits.LongestMs,
            Gaps = receipt.Gaps,
            Seeks = receipt.Seeks,
            FirstByte = receipt.FirstByteMs is { } ms ? (long)ms : null,
        };
    }

    internal sealed record FilterRow(long From, long To, string File, string Login);

    internal sealed record ShareRow(long Receipt, string Provider, long Bytes);

    internal sealed record ReceiptRow
    {
        public long Number { get; init; }
        public string Id { get; init; } = "";
        public long Scan { get; init; }
        public long Month { get; init; }
        public long Started { get; init; }
        public long Ended { get; init; }
        public string File { get; init; } = "";
        public string Path { get; init; } = "";
        public string Login { get; init; } = "";
        public string Client { get; init; } = "";
        public string Player { get; init; } = "";
        public long Files { get; init; }
        public long Sent { get; init; }
        public long Memory { get; init; }
        public long Disk { get; init; }
        public long Received { get; init; }
        public long Waits { get; init; }
        public long Waited { get; init; }
        public long Longest { get; init; }
        public long Gaps { get; init; }
        public long Seeks { get; init; }
        public long? FirstByte { get; init; }

        public Receipt Read(IEnumerable<ShareRow> shares) => new()
        {
            Id = Id,
            IsScan = Scan != 0,
            StartedAt = StoredTime.Read(Started),
            EndedAt = StoredTime.Read(Ended),
            File = Guid.TryParse(File, out var file) ? file : null,
            Path = Path,
            Login = Login,
            Client = Client,
            Player = Player,
            Files = (int)Files,
            Sent = Sent,
            Bytes = new AccountBytes(
                Memory,
                Disk,
                shares.Where(static share => Guid.TryParse(share.Provider, out _)).ToDictionary(static share => Guid.Parse(share.Provider), static share => share.Bytes)),
            Waits = new ReceiptWaits((int)Waits, Waited, Longest),
            Gaps = (int)Gaps,
            Seeks = (int)Seeks,
            FirstByteMs = FirstByte,
        };
    }
}
