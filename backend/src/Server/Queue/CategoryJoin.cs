using System.Data.Common;
using System.Text.Json;
using Dapper;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue;

/// <summary>
/// Adds the categories in use to <c>api.categories</c> once, because earlier versions accepted any category and an *arr must still find its items. Runs at
/// startup if a migration requested it, and after a library import.
/// </summary>
internal sealed class CategoryJoin(
    SluiceDatabase database, SettingsStore store, SettingsSource settings, IOptionsMonitor<ApiOptions> api, ILogger<CategoryJoin> logger) : IFormerServer
{
    private const string Setting = "api.categories";
    private const string Step = "join-categories";

    private IReadOnlyDictionary<string, string?>? _due;

    public async Task<IReadOnlyDictionary<string, string?>> ReadAsync(CancellationToken cancellationToken)
    {
        var isDue = await database.ReadAsync(
            connection => connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM pending_step WHERE name = @Step)", new { Step }), cancellationToken);
        _due = isDue ? await FindAsync(cancellationToken) : null;
        return _due ?? new Dictionary<string, string?>();
    }

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        if (_due is { } changes)
            await SaveAsync(changes, cancellationToken);
        _due = null;
    }

    /// <summary>Adds the categories of an imported library.</summary>
    public async Task JoinAsync(CancellationToken cancellationToken) => await SaveAsync(await FindAsync(cancellationToken), cancellationToken);

    private async Task SaveAsync(IReadOnlyDictionary<string, string?> changes, CancellationToken cancellationToken)
    {
        // Categories set by the environment cannot be saved. FindAsync has already logged a warning about them.
        if (changes.Count > 0)
            await store.SaveAsync(changes, cancellationToken);
        var configured = api.CurrentValue.Categories;
        await database.WriteAsync(
            connection =>
            {
                var count = ListUsed(connection).Sum(name => Respell(connection, name, configured));
                return count + connection.Execute("DELETE FROM pending_step WHERE name = @Step", new { Step });
            },
            cancellationToken);
    }

    /// <summary>Returns the new value of the setting with every name that can be added; empty if no name can be added.</summary>
    private async Task<IReadOnlyDictionary<string, string?>> FindAsync(CancellationToken cancellationToken)
    {
        var (configured, manual) = (api.CurrentValue.Categories, api.CurrentValue.ManualCategory);
        var used = await database.ReadAsync(ListUsed, cancellationToken);
        var room = (int)SettingsValidator.Definition(Setting)!.Max - configured.Count;
        List<string> joining =
        [
            .. used
                .Where(name => name != manual && IsClean(name) && !configured.Contains(name, StringComparer.OrdinalIgnoreCase))
                .Distinct(StringComparer.OrdinalIgnoreCase)
                .Where(name => store.Check(Value([name])).Count == 0)
                .Take(Math.Max(0, room)),
        ];
        if (joining.Count == 0)
            return new Dictionary<string, string?>();
        if (settings.Current[Setting] is { Origin: SettingOrigin.Environment, Variable: { } variable })
        {
            QueueLog.CategoriesNotJoined(logger, string.Join(", ", joining), variable);
            return new Dictionary<string, string?>();
        }

        QueueLog.CategoriesJoin(logger, string.Join(", ", joining));
        return Value([.. configured, .. joining]);
    }

    /// <summary>Whether the name is a valid folder name, so that it cannot contain a path.</summary>
    private static bool IsClean(string name) =>
        name.Length > 0 && name[0] != '.' && CategoryRules.AsSent(name) == name && name != CategoryRules.None && NameCleaner.Clean(name, windowsSafe: true) == name;

    private static List<string> ListUsed(DbConnection connection) =>
        [.. connection.Query<string>("SELECT category FROM queue_item UNION SELECT category FROM history_item UNION SELECT category FROM release ORDER BY category")];

    /// <summary>Changes the items' category to its configured spelling.</summary>
    private static int Respell(DbConnection connection, string name, IReadOnlyList<string> configured)
    {
        var spelling = configured.FirstOrDefault(known => known.Equals(name, StringComparison.OrdinalIgnoreCase));
        if (spelling is null || spelling == name)
            return 0;
        return connection.Execute("UPDATE queue_item SET category = @spelling WHERE category = @name", new { name, spelling })
            + connection.Execute("UPDATE history_item SET category = @spelling WHERE category = @name", new { name, spelling });
    }

    private static Dictionary<string, string?> Value(IReadOnlyCollection<string> names) =>
        new() { [Setting] = JsonSerializer.Serialize(names, DatabaseJson.Default.IReadOnlyCollectionString) };
}
