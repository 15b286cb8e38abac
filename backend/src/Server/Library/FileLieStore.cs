using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Server.Library;

/// <summary>Stores in <c>file_lie</c> which files recently contained bad bytes, so that clients do not get these bytes again after a restart (F18).</summary>
internal sealed class FileLieStore(StreamMemory memory, SluiceDatabase database, TimeProvider time) : ILearnedMemory
{
    public string Name => "files with corrupt articles";

    private long Oldest => (time.WallTime() - RememberedLie.Counts).ToUnixTimeMilliseconds();

    public async Task RestoreAsync(CancellationToken cancellationToken)
    {
        var rows = await database.ReadAsync(
            connection => (List<LieRow>)
            [
                .. connection.Query<LieRow>(
                    "SELECT file AS File, at AS At FROM file_lie WHERE at > @Oldest ORDER BY at DESC LIMIT @MostFiles",
                    new { Oldest, RememberedLie.MostFiles }),
            ],
            cancellationToken);
        memory.Restore(rows.Select(row => row.Read()));
    }

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        var lies = memory.TakeNewLies();
        if (lies.Count == 0)
            return;
        await database.WriteAsync(
            connection =>
            {
                connection.Execute(
                    "INSERT INTO file_lie (file, at) VALUES (@File, @At) ON CONFLICT (file) DO UPDATE SET at = excluded.at",
                    lies.Select(lie => new LieRow(lie.File, lie.At.ToUnixTimeMilliseconds())));
                return connection.Execute(
                    """
                    DELETE FROM file_lie WHERE at <= @Oldest
                      OR file IN (SELECT file FROM file_lie ORDER BY at DESC LIMIT -1 OFFSET @MostFiles)
                    """,
                    new { Oldest, RememberedLie.MostFiles });
            },
            cancellationToken);
    }

    internal sealed record LieRow(string File, long At)
    {
        // Clamp an impossible time, because a malformed row must not prevent the restore.
        public RememberedLie Read() => new(File, DateTimeOffset.FromUnixTimeMilliseconds(Math.Min(At, DateTimeOffset.MaxValue.ToUnixTimeMilliseconds())));
    }
}
