using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Settings;

/// <summary>The saved values: table <c>setting</c>. Secrets are encrypted on the way in, the WebDAV password is hashed.</summary>
/// <remarks>Thread-safe; saves follow one another.</remarks>
internal sealed class SettingsStore(
    SluiceDatabase database, SecretBox box, SettingsSource source, ILogger<SettingsStore> logger) : IDisposable
{
    private readonly SemaphoreSlim _turn = new(1);
    private Dictionary<string, string> _saved = [];
    private HashSet<string> _warned = [];

    /// <summary>Reads the saved values and puts them in force.</summary>
    public async Task LoadAsync(CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var rows = await database.ReadAsync(
                connection => (List<SavedRow>)[.. connection.Query<SavedRow>("SELECT key AS Key, value AS Value FROM setting")], cancellationToken);
            var lost = new List<string>();
            _saved = [];
            foreach (var (key, value) in rows)
            {
                if (!SecretBox.IsSealed(value))
                    _saved[key] = value;
                else if (box.Open(key, value) is { } plain)
                    _saved[key] = plain;
                else
                    lost.Add(key);
            }

            if (lost.Count > 0)
                SettingsLog.SecretsLost(logger, string.Join(", ", lost));
            Apply(_saved);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Puts values in force without saving them, for a start that may still fail.</summary>
    public async Task UseUnsavedAsync(IReadOnlyDictionary<string, string?> values, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var all = new Dictionary<string, string>(_saved);
            foreach (var (key, value) in values.Where(value => value.Value is not null))
                all[key] = value!;
            Apply(all);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Checks changes together and, when all are valid, saves them in one transaction and puts them in force.</summary>
    /// <param name="changes">Plain values by key; null removes the saved value.</param>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    /// <returns>Sentences by key; empty when everything was saved (CFG-11).</returns>
    public async Task<IReadOnlyDictionary<string, string[]>> SaveAsync(
        IReadOnlyDictionary<string, string?> changes, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var errors = SettingsValidator.Validate(changes, source.Current, out var canonical);
            if (errors.Count > 0)
                return errors;

            var rows = canonical.Where(change => change.Value is not null).Select(change => Row(change.Key, change.Value!)).ToList();
            var removed = canonical.Where(change => change.Value is null).Select(change => change.Key).ToList();
            await database.WriteAsync(
                connection =>
                {
                    connection.Execute($"DELETE FROM setting WHERE {SqlDialect.In("key", "@list")}", new { list = SqlDialect.List(removed) });
                    return connection.Execute(
                        "INSERT INTO setting (key, value, secret) VALUES (@Key, @Value, @Secret) ON CONFLICT (key) DO UPDATE SET value = excluded.value, secret = excluded.secret",
                        rows);
                },
                cancellationToken);

            var saved = new Dictionary<string, string>(_saved);
            foreach (var key in removed)
                saved.Remove(key);
            foreach (var row in rows)
                saved[row.Key] = row.Plain;
            _saved = saved;
            Apply(saved);
            return errors;
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _turn.Dispose();

    private SettingRow Row(string key, string value)
    {
        var definition = SettingsValidator.Definition(key)!;
        var plain = definition.Type == SettingType.Password && !PasswordHash.IsHash(value) ? PasswordHash.Create(value).ToString() : value;
        var stored = definition.Secret && definition.Type != SettingType.Password ? box.Seal(key, plain) : plain;
        return new SettingRow(key, plain, stored, definition.Secret);
    }

    private void Apply(Dictionary<string, string> saved)
    {
        source.Apply(saved);
        // A warning is logged once, not again at every change.
        var warnings = source.Current.Warnings;
        foreach (var warning in warnings.Where(warning => !_warned.Contains(warning)))
            SettingsLog.Replaced(logger, warning);
        _warned = [.. warnings];
    }

    internal sealed record SavedRow(string Key, string Value);

    internal sealed record SettingRow(string Key, string Plain, string Value, bool Secret);
}
