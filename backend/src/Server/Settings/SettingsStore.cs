using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Settings;

/// <summary>
/// Stores saved values in the table <c>setting</c>. Encrypts secrets and hashes the WebDAV password. A value that cannot be decrypted is locked: its row stays
/// until the setting is saved or the key is discarded (CFG-53). Thread-safe. Saves run one at a time.
/// </summary>
internal sealed class SettingsStore(
    SluiceDatabase database, SecretBox box, SettingsSource source, SettingsTrial trial, IEnumerable<ISettingCheck> checks, TimeProvider time, ILogger<SettingsStore> logger)
    : IDisposable
{
    private const string Upsert =
        "INSERT INTO setting (key, value, secret) VALUES (@Key, @Value, @Secret) ON CONFLICT (key) DO UPDATE SET value = excluded.value, secret = excluded.secret";

    private readonly SemaphoreSlim _turn = new(1);
    private Dictionary<string, string> _saved = [];
    private HashSet<string> _locked = [];

    // Unsaved values, in effect until their keys are saved.
    private Dictionary<string, string> _unsaved = [];
    private HashSet<string> _warned = [];
    private bool _isKeyNoted;

    // The set used by this startup, newer sets that failed, and whether the table must be reset to the set in use.
    private SettingSet? _started;
    private IReadOnlyList<long> _failed = [];
    private bool _reverted;

    /// <summary>
    /// Loads and applies the saved values, or the previous set if startup failed with the latest (CFG-12). Locks undecryptable values (CFG-53).
    /// </summary>
    public async Task LoadAsync(CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var (rows, sets, fingerprint) = await database.ReadAsync(
                connection => (
                    (List<SavedRow>)[.. connection.Query<SavedRow>("SELECT key AS Key, value AS Value FROM setting")],
                    SettingSets.Read(connection),
                    SettingKeyStore.Find(connection)),
                cancellationToken);
            box.Prepare(fingerprint, rows.Where(row => SecretBox.IsSealed(row.Value)).ToDictionary(row => row.Key, row => row.Value));
            _isKeyNoted = fingerprint is not null;
            _saved = Open(Choose(rows, sets), out var locked);
            Apply(_saved, [.. locked]);
            // Missing keys cannot be generated now, because a locked box cannot encrypt them.
            if (box.IsLocked)
                Apply(_saved, [.. locked, .. SettingSchema.MadeKeys.Where(key => source.Current.Text(key).Length == 0)]);
            if (_locked.Count > 0)
                SettingsLog.SecretsLocked(logger, box.Cause, string.Join(", ", _locked.Order(StringComparer.Ordinal)));
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Records that the server has started with the loaded set. May be called again after a failure.</summary>
    /// <exception cref="StorageException">The database cannot be written. The trial has ended anyway.</exception>
    public async Task NoteStartedAsync(CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            trial.Succeed();
            var judges = _started is { } set && (!set.Proven || _failed.Count > 0);
            if (judges || (!_isKeyNoted && box.Fingerprint is not null))
            {
                await database.WriteAsync(
                    connection =>
                    {
                        NoteKey(connection);
                        if (judges)
                            SettingSets.RecordOutcome(connection, _started!.Id, _failed);
                        if (_reverted)
                            Replace(connection, _started!.Content);
                        return 0;
                    },
                    cancellationToken);
            }

            _reverted = false;
            trial.Forget();
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>Returns the latest sets, newest first.</summary>
    public Task<IReadOnlyList<SettingSet>> SetsAsync(CancellationToken cancellationToken) => database.ReadAsync(SettingSets.Read, cancellationToken);

    /// <summary>Saves a set's content as a new change. Returns errors by key; null if the set does not exist.</summary>
    public async Task<IReadOnlyDictionary<string, string[]>?> RestoreAsync(long id, CancellationToken cancellationToken)
    {
        var sets = await SetsAsync(cancellationToken);
        if (sets.FirstOrDefault(set => set.Id == id) is not { } set)
            return null;
        var values = Open(set.Content.Select(value => new SavedRow(value.Key, value.Value)), out var lost);
        // Skip settings that no longer exist, and secrets encrypted with another key.
        var changes = SettingSchema.All
            .Where(definition => definition.IsInSets && !lost.Contains(definition.Key) && !_locked.Contains(definition.Key))
            .Where(definition => _saved.GetValueOrDefault(definition.Key) != values.GetValueOrDefault(definition.Key))
            .ToDictionary(definition => definition.Key, definition => values.GetValueOrDefault(definition.Key));
        return await SaveAsync(changes, cancellationToken);
    }

    /// <summary>Applies values without saving them, because startup may still fail. They remain in effect until their keys are saved.</summary>
    public async Task UseUnsavedAsync(IReadOnlyDictionary<string, string?> values, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            _unsaved = values.Where(value => value.Value is not null).ToDictionary(value => value.Key, value => value.Value!);
            Apply(_saved, _locked);
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>
    /// Validates all changes, saves them in one transaction and applies them. Null removes a value. Returns errors by key, empty on success (CFG-11).
    /// </summary>
    public Task<IReadOnlyDictionary<string, string[]>> SaveAsync(IReadOnlyDictionary<string, string?> changes, CancellationToken cancellationToken) =>
        SaveAsync(changes, new Dictionary<string, string>(), cancellationToken);

    /// <summary>Also saves values of unknown keys, which have no effect. Encrypts these values, because they may be secrets.</summary>
    public Task<IReadOnlyDictionary<string, string[]>> SaveAsync(
        IReadOnlyDictionary<string, string?> changes, IReadOnlyDictionary<string, string> kept, CancellationToken cancellationToken) =>
        SaveAsync(() => changes, kept, cancellationToken);

    /// <summary>
    /// Saves the values that <see cref="UseUnsavedAsync"/> set for these keys, except keys saved in the meantime. The check and the save happen under one lock,
    /// because a save in between would be overwritten. Returns the saved values.
    /// </summary>
    public async Task<IReadOnlyDictionary<string, string>> SaveUnsavedAsync(IReadOnlyCollection<string> keys, CancellationToken cancellationToken)
    {
        var left = new Dictionary<string, string>();
        var errors = await SaveAsync(
            () =>
            {
                left = _unsaved.Where(value => keys.Contains(value.Key)).ToDictionary();
                return left.ToDictionary(value => value.Key, value => (string?)value.Value);
            },
            new Dictionary<string, string>(),
            cancellationToken);
        return errors.Count == 0 ? left : throw new InvalidOperationException($"Settings refuse generated values: {string.Join(", ", errors.Keys)}.");
    }

    private async Task<IReadOnlyDictionary<string, string[]>> SaveAsync(
        Func<IReadOnlyDictionary<string, string?>> choose, IReadOnlyDictionary<string, string> kept, CancellationToken cancellationToken)
    {
        await _turn.WaitAsync(cancellationToken);
        try
        {
            var changes = choose();
            var errors = SettingsValidator.Validate(changes, source.Current, checks, out var canonical);
            if (errors.Count > 0 || canonical.Count + kept.Count == 0)
                return errors;

            List<SettingRow> rows =
            [
                .. canonical.Where(change => change.Value is not null).Select(change => Row(change.Key, change.Value!)),
                .. kept.Select(value => new SettingRow(value.Key, value.Value, box.SealEntered(value.Key, value.Value), true)),
            ];
            var removed = canonical.Where(change => change.Value is null).Select(change => change.Key).ToList();
            await database.WriteAsync(
                connection =>
                {
                    NoteKey(connection);
                    // Restore the set first, because values saved at startup must not be mixed with the rows of the failed set.
                    if (_reverted)
                        Replace(connection, _started!.Content);
                    string[] changed = [.. canonical.Keys.Where(key => SettingsValidator.Definition(key)!.IsInSets)];
                    if (changed.Length > 0)
                        SettingSets.AddBaseline(connection, time.WallTime());
                    connection.Execute($"DELETE FROM setting WHERE {SqlDialect.In("key", "@list")}", new { list = SqlDialect.List(removed) });
                    var count = connection.Execute(Upsert, rows);
                    if (changed.Length > 0)
                        SettingSets.Add(connection, time.WallTime(), changed);
                    return count;
                },
                cancellationToken);

            _reverted = false;
            var saved = new Dictionary<string, string>(_saved);
            foreach (var key in canonical.Keys)
                _unsaved.Remove(key);
            foreach (var key in removed)
                saved.Remove(key);
            foreach (var row in rows)
                saved[row.Key] = row.Plain;
            Apply(saved, [.. _locked.Where(key => !canonical.ContainsKey(key) && !kept.ContainsKey(key))]);
            return errors;
        }
        finally
        {
            _turn.Release();
        }
    }

    /// <summary>
    /// Discards the lost key: removes the locked values, creates a new key file if the box is locked, and regenerates <see cref="SettingSchema.MadeKeys"/>.
    /// Does nothing if no values are locked.
    /// </summary>
    /// <exception cref="StorageException">The key file cannot be created. Nothing has changed.</exception>
    public async Task GiveUpKeyAsync(CancellationToken cancellationToken)
    {
        HashSet<string> given;
        await _turn.WaitAsync(cancellationToken);
        try
        {
            given = _locked;
            var replacement = box.MakeReplacement();
            if (replacement is null && given.Count == 0)
                return;
            // Do not cancel from here on, because the key file and the database must both be written.
            await database.WriteAsync(
                connection =>
                {
                    if (replacement is not null)
                        SettingKeyStore.Replace(connection, replacement.Fingerprint);
                    connection.Execute($"DELETE FROM setting WHERE {SqlDialect.In("key", "@list")}", new { list = SqlDialect.List(given) });
                    SettingSets.Add(connection, time.WallTime(), [.. given.Order(StringComparer.Ordinal)]);
                    return 0;
                },
                CancellationToken.None);
            replacement?.Adopt();
            Apply(_saved, []);
        }
        finally
        {
            _turn.Release();
        }

        var made = SettingSchema.MadeKeys.Where(key => given.Contains(key) && source.Current.Text(key).Length == 0);
        _ = await SaveAsync(made.ToDictionary(key => key, _ => (string?)SettingSchema.MakeKey()), cancellationToken);
    }

    /// <summary>Returns the errors that saving these changes would return. Saves nothing.</summary>
    public IReadOnlyDictionary<string, string[]> Check(IReadOnlyDictionary<string, string?> changes) =>
        SettingsValidator.Validate(changes, source.Current, checks, out _);

    public void Dispose() => _turn.Dispose();

    /// <summary>Returns the values of the newest set whose startup has not failed, or the table's rows if no newer set failed.</summary>
    private IEnumerable<SavedRow> Choose(List<SavedRow> rows, IReadOnlyList<SettingSet> sets)
    {
        var accused = trial.Accused();
        var usable = sets.Where(set => !set.Failed).ToList();
        _started = usable.FirstOrDefault(set => set.Proven || !accused.Contains(set.Id));
        _failed = [.. usable.TakeWhile(set => set != _started).Select(set => set.Id)];
        if (_started is null)
        {
            // Without an earlier set, keep the settings as they are.
            _failed = [];
            return rows;
        }

        if (!_started.Proven)
            trial.Begin(_started.Id);
        if (_failed.Count == 0)
            return rows;

        _reverted = true;
        var keys = usable.TakeWhile(set => set != _started).SelectMany(set => set.Changed).Distinct();
        SettingsLog.SetLeftOut(logger, usable[0].SavedAt, _started.SavedAt, string.Join(", ", keys));
        return rows.Where(row => !SettingSets.Has(row.Key)).Concat(_started.Content.Select(value => new SavedRow(value.Key, value.Value)));
    }

    private static void Replace(DbConnection connection, IReadOnlyDictionary<string, string> content)
    {
        string[] others = [.. SettingSchema.All.Where(definition => !definition.IsInSets).Select(definition => definition.Key)];
        connection.Execute($"DELETE FROM setting WHERE NOT ({SqlDialect.In("key", "@list")})", new { list = SqlDialect.List(others) });
        var rows = content.Select(value => new SettingRow(value.Key, "", value.Value, SettingsValidator.Definition(value.Key)?.Secret == true)).ToList();
        connection.Execute(Upsert, rows);
    }

    /// <summary>Records the fingerprint of the encryption key. Runs in the caller's transaction.</summary>
    private void NoteKey(DbConnection connection)
    {
        if (box.Fingerprint is { } fingerprint)
            SettingKeyStore.Note(connection, fingerprint);
    }

    /// <summary>Decrypts stored values. Returns the keys of undecryptable values in <paramref name="lost"/>.</summary>
    private Dictionary<string, string> Open(IEnumerable<SavedRow> rows, out List<string> lost)
    {
        var values = new Dictionary<string, string>();
        lost = [];
        foreach (var (key, value) in rows)
        {
            if (!SecretBox.IsSealed(value))
                values[key] = value;
            else if (box.Open(key, value) is { } plain)
                values[key] = plain;
            else
                lost.Add(key);
        }

        return values;
    }

    private SettingRow Row(string key, string value)
    {
        var definition = SettingsValidator.Definition(key)!;
        var plain = definition.Type == SettingType.Password
            ? PasswordHash.Of(value)?.ToString() ?? throw new InvalidOperationException($"{key} was not judged before it is stored.")
            : value;
        var stored = definition.Secret && definition.Type != SettingType.Password ? box.SealEntered(key, plain) : plain;
        return new SettingRow(key, plain, stored, definition.Secret);
    }

    private void Apply(Dictionary<string, string> saved, HashSet<string> locked)
    {
        (_saved, _locked) = (saved, locked);
        var all = new Dictionary<string, string>(saved);
        foreach (var (key, value) in _unsaved)
            all[key] = value;
        source.Apply(all, locked.Where(key => !_unsaved.ContainsKey(key)).ToHashSet());
        // Log each warning only once, because changes are frequent.
        var warnings = source.Current.Warnings;
        foreach (var warning in warnings.Where(warning => !_warned.Contains(warning)))
            SettingsLog.Replaced(logger, warning);
        _warned = [.. warnings];
    }

    internal sealed record SavedRow(string Key, string Value);

    internal sealed record SettingRow(string Key, string Plain, string Value, bool Secret);
}

/// <summary>The fingerprint of this database's encryption key (CFG-53). All methods run in the caller's transaction.</summary>
internal static class SettingKeyStore
{
    public static string? Find(DbConnection connection) => connection.QueryFirstOrDefault<string>("SELECT fingerprint FROM secret_key");

    /// <summary>Records the fingerprint unless one exists.</summary>
    public static void Note(DbConnection connection, string fingerprint) =>
        connection.Execute("INSERT INTO secret_key (id, fingerprint) VALUES (1, @fingerprint) ON CONFLICT (id) DO NOTHING", new { fingerprint });

    public static void Replace(DbConnection connection, string fingerprint) =>
        connection.Execute(
            "INSERT INTO secret_key (id, fingerprint) VALUES (1, @fingerprint) ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint",
            new { fingerprint });
}
