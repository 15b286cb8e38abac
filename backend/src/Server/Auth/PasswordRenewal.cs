using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Hashes the WebDAV password anew when it is next known, where its hash was imported (CFG-42).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class PasswordRenewal(SettingsStore store, SettingsSource settings, ILogger<PasswordRenewal> logger)
{
    private const string Key = "webdav.pass";

    /// <summary>Replaces the hash of a password that was right, where that is due.</summary>
    public async Task RenewAsync(string password, CancellationToken cancellationToken)
    {
        var saved = settings.Current[Key];
        if (saved.Origin != SettingOrigin.Saved || PasswordHash.Parse(saved.Value) is not { IsImported: true } before || !before.Verify(password))
            return;
        try
        {
            var hash = await Task.Run(() => PasswordHash.Create(password), cancellationToken);
            await store.SaveAsync(new Dictionary<string, string?> { [Key] = hash.ToString() }, cancellationToken);
        }
        catch (Exception e) when (e is StorageException or DatabaseLostException)
        {
            // The password is right as it is, and is hashed anew the next time.
            AuthLog.NotRenewed(logger, e.Message);
        }
    }
}
