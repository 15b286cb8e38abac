using System.Collections.Concurrent;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Arr;

/// <summary>The last check of a program. <c>Failure</c> is a sentence; null if the check passed.</summary>
internal sealed record ArrCheck(DateTimeOffset At, string? Failure);

/// <summary>The saved programs, and their last checks since startup. Thread-safe.</summary>
internal sealed class ArrStore(SettingsStore store, SettingsSource settings, SecretBox box, TimeProvider time)
{
    private const string Setting = "arr.instances";

    private readonly ConcurrentDictionary<string, ArrCheck> _checks = new();

    /// <summary>The environment variable that sets the programs; null if the user can change the programs.</summary>
    public string? Lock => settings.Current[Setting] is { Origin: SettingOrigin.Environment } setting ? setting.Variable : null;

    /// <summary>Why the programs cannot be changed, as a sentence; null if they can. Saving locked programs would overwrite them (CFG-53).</summary>
    public string? Refusal => settings.Current[Setting] switch
    {
        { Origin: SettingOrigin.Environment } setting => $"The programs are set by the environment variable {setting.Variable}. Remove it there to change them here.",
        { IsLocked: true } => $"The saved programs are locked, because {box.Cause}. Put the key file back, or create a new one on the settings page.",
        _ => null,
    };

    public IReadOnlyList<ArrServer> All => ArrJson.Read(settings.Current.Text(Setting), out _);

    /// <summary>The programs that Sluice may call automatically.</summary>
    public IEnumerable<ArrServer> Enabled => All.Where(server => server.IsEnabled);

    /// <summary>Finds the saved program with the same kind and address, or null.</summary>
    public ArrServer? Find(ArrServer server) =>
        All.FirstOrDefault(other => other.Kind == server.Kind && other.Url.Equals(server.Url, StringComparison.OrdinalIgnoreCase));

    public ArrCheck? CheckOf(string id) => _checks.GetValueOrDefault(id);

    /// <summary>Lists programs whose last check failed, and entries of the setting that cannot be used.</summary>
    public IEnumerable<AttentionRow> Attention()
    {
        var servers = ArrJson.Read(settings.Current.Text(Setting), out var warnings);
        foreach (var server in servers)
        {
            if (CheckOf(server.Id) is { Failure: { } failure } check)
                yield return new(AttentionKind.Arr, AttentionLevel.Warning, $"{server.Name}: {failure}", server.Id, check.At);
        }

        foreach (var warning in warnings)
            yield return new(AttentionKind.Setting, AttentionLevel.Warning, warning + ".", Setting, null);
    }

    public void Note(string id, string? failure) => _checks[id] = new ArrCheck(time.WallTime(), failure);

    /// <summary>Saves a program, or updates the saved one with the same kind and address. Returns the program with its id.</summary>
    /// <exception cref="ArrException">The program cannot be saved.</exception>
    public async Task<ArrServer> SaveAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var existing = Find(server);
        var saved = server with { Id = existing?.Id ?? ArrJson.IdOf(server.Kind, server.Url) };
        if (saved != existing)
            await WriteAsync(ArrJson.With(settings.Current.Text(Setting), saved), cancellationToken);
        return saved;
    }

    /// <summary>Removes a program; false if it did not exist.</summary>
    public async Task<bool> RemoveAsync(string id, CancellationToken cancellationToken)
    {
        if (All.All(server => server.Id != id))
            return false;
        await WriteAsync(ArrJson.Without(settings.Current.Text(Setting), id), cancellationToken);
        _checks.TryRemove(id, out _);
        return true;
    }

    private async Task WriteAsync(string value, CancellationToken cancellationToken)
    {
        var errors = await store.SaveAsync(new Dictionary<string, string?> { [Setting] = value }, cancellationToken);
        if (errors.Values.FirstOrDefault() is [var sentence, ..])
            throw new ArrException(sentence);
    }
}
