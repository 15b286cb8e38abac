using System.Collections.Concurrent;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Arr;

/// <summary>How the last check of a program went.</summary>
/// <param name="At">When.</param>
/// <param name="Failure">Why it failed, in a sentence; null when it passed.</param>
internal sealed record ArrCheck(DateTimeOffset At, string? Failure);

/// <summary>The saved programs, and how their last checks went since the start.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ArrStore(SettingsStore store, SettingsSource settings, SecretBox box, TimeProvider time)
{
    private const string Setting = "arr.instances";

    private readonly ConcurrentDictionary<string, ArrCheck> _checks = new();

    /// <summary>The environment variable that sets the programs, so that none can be saved; null when none does.</summary>
    public string? Lock => settings.Current[Setting] is { Origin: SettingOrigin.Environment } setting ? setting.Variable : null;

    /// <summary>Why no program can be saved, in a sentence; null if they can. A change of locked ones would write over them (CFG-53).</summary>
    public string? Refusal => settings.Current[Setting] switch
    {
        { Origin: SettingOrigin.Environment } setting => $"The programs are set by the environment variable {setting.Variable}. Remove it there to change them here.",
        { IsLocked: true } => $"The saved programs are locked, because {box.Cause}. Put the key file back, or give it up on the settings page.",
        _ => null,
    };

    /// <summary>All programs.</summary>
    public IReadOnlyList<ArrServer> All => ArrJson.Read(settings.Current.Text(Setting), out _);

    /// <summary>The saved program of a kind and address, or null.</summary>
    public ArrServer? Find(ArrServer server) =>
        All.FirstOrDefault(other => other.Kind == server.Kind && other.Url.Equals(server.Url, StringComparison.OrdinalIgnoreCase));

    /// <summary>The last check of a program; null when there was none.</summary>
    public ArrCheck? CheckOf(string id) => _checks.GetValueOrDefault(id);

    /// <summary>Notes a check.</summary>
    public void Note(string id, string? failure) => _checks[id] = new ArrCheck(time.WallTime(), failure);

    /// <summary>Saves a program; one of its kind and address takes the new name, key and category.</summary>
    /// <returns>As it is saved, with its id.</returns>
    /// <exception cref="ArrException">It cannot be saved.</exception>
    public async Task<ArrServer> SaveAsync(ArrServer server, CancellationToken cancellationToken)
    {
        var existing = Find(server);
        var saved = server with { Id = existing?.Id ?? ArrJson.IdOf(server.Kind, server.Url) };
        if (saved != existing)
            await WriteAsync(ArrJson.With(settings.Current.Text(Setting), saved), cancellationToken);
        return saved;
    }

    /// <summary>Forgets a program.</summary>
    /// <returns>Whether there was one.</returns>
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
