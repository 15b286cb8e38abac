using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>
/// Encrypts archive passwords stored in plain text by older versions or without a key file. An index lists them, so startup reads nothing if none exist.
/// </summary>
internal sealed class PasswordSealWorker(SluiceDatabase database, ItemPasswords passwords) : IWorker
{
    private const int PerTransaction = 500;

    public string Name => "the sealing of archive passwords";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        foreach (var table in passwords.CanSeal ? (string[])["queue_item", "history_item"] : [])
        {
            while (await database.WriteAsync(connection => SealSome(connection, table), stopping) == PerTransaction)
            {
                // Each call is a transaction of its own, so that other writes run in between.
            }
        }
    });

    private int SealSome(DbConnection connection, string table)
    {
        List<KeptPassword> plain =
        [
            .. connection.Query<KeptPassword>(
                $"""
                SELECT id AS Id, password AS Password FROM {table} {SqlDialect.IndexedBy($"{table}_plain")}
                WHERE password <> '' AND substr(password, 1, 7) <> 'enc:v1:' LIMIT @most
                """,
                new { most = PerTransaction }),
        ];
        connection.Execute(
            $"UPDATE {table} SET password = @Password WHERE id = @Id",
            plain.ConvertAll(row => row with { Password = passwords.Seal(row.Id, row.Password) }));
        return plain.Count;
    }
}
