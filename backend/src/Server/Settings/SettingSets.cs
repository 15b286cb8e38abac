using System.Data.Common;
using System.Text.Json;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>A saved set of settings.</summary>
/// <param name="Id">Ascending number.</param>
/// <param name="Changed">Keys changed by this save.</param>
/// <param name="Content">All saved values by key. Secrets are encrypted.</param>
/// <param name="Proven">Whether the server has started with this set.</param>
/// <param name="Failed">Whether startup with this set failed, so that it is not used again.</param>
internal sealed record SettingSet(
    long Id, DateTimeOffset SavedAt, IReadOnlyList<string> Changed, IReadOnlyDictionary<string, string> Content, bool Proven, bool Failed);

/// <summary>Stores the latest sets (CFG-12). A set contains the values of all keys for which <see cref="Has"/> is true.</summary>
internal static class SettingSets
{
    public const int MaxSets = 10;

    /// <summary>Whether sets contain the value of a key. True for unknown keys.</summary>
    public static bool Has(string key) => SettingsValidator.Definition(key)?.IsInSets != false;

    /// <summary>Returns all sets, newest first.</summary>
    public static IReadOnlyList<SettingSet> Read(DbConnection connection) =>
    [
        .. connection.Query<SetRow>(
                "SELECT id AS Id, saved_at AS SavedAt, changed AS Changed, content AS Content, proven AS Proven, failed AS Failed FROM setting_set ORDER BY id DESC")
            .Select(row => new SettingSet(
                row.Id,
                StoredTime.Read(row.SavedAt),
                JsonSerializer.Deserialize(row.Changed, SettingJson.Default.StringArray) ?? [],
                // Sets of earlier versions contain more values.
                (JsonSerializer.Deserialize(row.Content, SettingJson.Default.DictionaryStringString) ?? []).Where(value => Has(value.Key)).ToDictionary(),
                row.Proven != 0,
                row.Failed != 0)),
    ];

    /// <summary>Before the first change, saves the current settings as proven, because this server has started with them.</summary>
    public static void AddBaseline(DbConnection connection, DateTimeOffset now)
    {
        if (connection.ExecuteScalar<long>("SELECT count(*) FROM setting_set") > 0)
            return;
        var content = Current(connection);
        if (content.Count > 0)
            Insert(connection, now, [], content, proven: true);
    }

    /// <summary>Saves the settings after a change. Removes the oldest sets.</summary>
    public static void Add(DbConnection connection, DateTimeOffset now, IReadOnlyList<string> changed)
    {
        Insert(connection, now, changed, Current(connection), proven: false);
        connection.Execute("DELETE FROM setting_set WHERE id NOT IN (SELECT id FROM setting_set ORDER BY id DESC LIMIT @kept)", new { kept = MaxSets });
    }

    public static void RecordOutcome(DbConnection connection, long? proven, IReadOnlyCollection<long> failed)
    {
        connection.Execute("UPDATE setting_set SET proven = 1 WHERE id = @proven", new { proven = proven ?? 0 });
        connection.Execute($"UPDATE setting_set SET failed = 1 WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(failed) });
    }

    private static void Insert(DbConnection connection, DateTimeOffset now, IReadOnlyList<string> changed, Dictionary<string, string> content, bool proven)
    {
        var row = new NewRow(
            now.ToUnixTimeMilliseconds(),
            JsonSerializer.Serialize([.. changed], SettingJson.Default.StringArray),
            JsonSerializer.Serialize(content, SettingJson.Default.DictionaryStringString),
            proven ? 1 : 0);
        connection.Execute("INSERT INTO setting_set (saved_at, changed, content, proven, failed) VALUES (@SavedAt, @Changed, @Content, @Proven, 0)", row);
    }

    private static Dictionary<string, string> Current(DbConnection connection) =>
        connection.Query<SettingsStore.SavedRow>("SELECT key AS Key, value AS Value FROM setting ORDER BY key")
            .Where(row => Has(row.Key))
            .ToDictionary(row => row.Key, row => row.Value);

    internal sealed record SetRow(long Id, long SavedAt, string Changed, string Content, long Proven, long Failed);

    internal sealed record NewRow(long SavedAt, string Changed, string Content, long Proven);
}
