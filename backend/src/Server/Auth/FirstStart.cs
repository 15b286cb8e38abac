using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>A path printed next to the credentials at the first startup.</summary>
internal interface IWelcomePath
{
    /// <summary>A label of one or two words.</summary>
    string Title { get; }

    /// <summary>WebDAV path, percent-encoded with a leading slash; null to print nothing.</summary>
    string? Path { get; }
}

/// <summary>Imports settings and login from the server that this one replaces.</summary>
internal interface IFormerServer
{
    /// <summary>Reads the settings by key and saves nothing. Runs before secrets are generated, so imported secrets take precedence. Logs errors.</summary>
    Task<IReadOnlyDictionary<string, string?>> ReadAsync(CancellationToken cancellationToken);

    /// <summary>Saves the imported settings and login before the setup begins.</summary>
    Task SaveAsync(CancellationToken cancellationToken);
}

/// <summary>
/// Generates missing secrets and prints them before the port opens, so that scripts waiting for the port find them in the log. Prints the setup link until an
/// administrator exists.
/// </summary>
internal sealed class FirstStart(
    SluiceDatabase database,
    SettingsStore store,
    SettingsSource settings,
    ProcessOptions process,
    ReservedPort port,
    IOptionsMonitor<WebDavOptions> webDav,
    IOptionsMonitor<GeneralOptions> general,
    IEnumerable<IWelcomePath> welcomePaths,
    IEnumerable<IFormerServer> formerServers,
    MadePassword shown,
    AdminStore admins,
    KnownSenders known,
    SetupCode setupCode,
    PasswordReset reset,
    StartNotes notes,
    ILogger<FirstStart> logger) : IHostedLifecycleService
{
    private readonly Dictionary<string, string?> _made = [];

    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        // Fail here if the port is taken. Otherwise a password would be stored but never printed.
        port.Reserve();
        var networks = webDav.CurrentValue.NoAuthNetworks;
        if (networks.Count > 0)
            AuthLog.NetworksOpen(logger, string.Join(", ", networks));
        else if (process.DisableWebDavAuth)
            AuthLog.NoNetworks(logger);
        if (!database.IsOpen)
            return;

        var values = new Dictionary<string, string?>();
        try
        {
            await admins.LoadAsync(cancellationToken);
            await known.LoadAsync(cancellationToken);
            foreach (var former in formerServers)
            {
                foreach (var (key, value) in await former.ReadAsync(cancellationToken))
                    values[key] = value;
            }
        }
        catch (DatabaseLostException)
        {
            // The database is corrupt. Safe mode reports it.
            return;
        }

        if (IsOpen("webdav.pass"))
            _made["webdav.pass"] = MadePassword.Make();
        foreach (var key in SettingSchema.MadeKeys.Where(IsOpen))
            _made[key] = SettingSchema.MakeKey();
        foreach (var (key, value) in _made)
            values[key] = value;
        await store.UseUnsavedAsync(values, cancellationToken);

        // Never replace a locked value, because its key file may be restored (CFG-53).
        bool IsOpen(string key) => settings.Current[key] is { Value: "", IsLocked: false } && !values.ContainsKey(key);
    }

    /// <summary>Runs before the port opens, because the host starts Kestrel last.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (!database.IsOpen)
            return;
        foreach (var former in formerServers)
            await notes.WriteAsync("the settings of the old server", former.SaveAsync, cancellationToken);
        await notes.WriteAsync("the password reset", reset.ApplyAsync, cancellationToken);
        await notes.WriteAsync("the administrator's login", BeginSetupAsync, cancellationToken);
        await notes.WriteAsync("the code of the setup", _ => PrintSetupAsync(), cancellationToken);
        await notes.WriteAsync("the generated passwords and keys", SaveMadeAsync, cancellationToken);
    }

    public Task StartedAsync(CancellationToken cancellationToken) => PrintAsync([$"Sluice serves WebDAV at {Url(null, null)}"]);

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Creates a missing administrator from the environment. If the environment has no usable password, begins the setup.</summary>
    private async Task BeginSetupAsync(CancellationToken cancellationToken)
    {
        if (admins.Admin is not null)
            return;
        if (process.AdminPassword is { } password && await Task.Run(() => PasswordHash.Of(password), cancellationToken) is { } hash)
        {
            await admins.CreateAsync(process.AdminUser, hash, "done", cancellationToken);
            return;
        }

        setupCode.Begin();
        AuthLog.SetupNeeded(logger);
    }

    /// <summary>Saves the secrets before printing them, because they must still be valid after the next startup.</summary>
    private async Task SaveMadeAsync(CancellationToken cancellationToken)
    {
        // Keep values that the API saved while these could not be written.
        var made = await store.SaveUnsavedAsync(_made.Keys, cancellationToken);
        if (made.Count == 0)
            return;

        // Do not print the key of signed links, because users never type it.
        if (made.Keys.All(key => key == "api.strm-key"))
            return;

        var password = made.GetValueOrDefault("webdav.pass");
        if (password is not null)
            shown.Show(password);
        List<string> lines = ["This is shown once:", $"  WebDAV    {Url(password, null)}"];
        if (made.TryGetValue("api.key", out var key))
            lines.Add($"  API key   {key}");
        foreach (var welcome in welcomePaths.Where(welcome => welcome.Path is not null))
            lines.Add($"  {welcome.Title,-9} {Url(password, welcome.Path)}");
        await PrintAsync(lines);
    }

    private Task PrintSetupAsync() => setupCode.Current is { } code
        ? PrintAsync(["Set it up in a browser:", .. SetupHosts().Select(host => $"  {Scheme}://{Bracketed(host)}:{Port}{general.CurrentValue.UrlBase}/setup#{code}")])
        : Task.CompletedTask;

    // Inside a container, the host's LAN addresses are unknown; only its published port is known (S7).
    private IEnumerable<string> SetupHosts() => Host != "localhost" || process.PublishedPort is not null ? [Host] : [Host, .. LanAddresses.Find()];

    // Bypass the log, because it masks secrets.
    private static Task PrintAsync(IEnumerable<string> lines) => Console.Out.WriteLineAsync(string.Join(Environment.NewLine, lines));

    private string Host =>
        process.BindAddress is not { } address || address.Equals(System.Net.IPAddress.Any) || address.Equals(System.Net.IPAddress.IPv6Any) ? "localhost" : address.ToString();

    private static string Bracketed(string host) => host.Contains(':', StringComparison.Ordinal) ? $"[{host}]" : host;

    private int Port => process.PublishedPort ?? port.Number;

    private string Scheme => process.UsesTls ? "https" : "http";

    private string Url(string? password, string? path)
    {
        var credentials = password is null ? "" : $"{Uri.EscapeDataString(webDav.CurrentValue.User)}:{Uri.EscapeDataString(password)}@";
        return $"{Scheme}://{credentials}{Bracketed(Host)}:{Port}{general.CurrentValue.UrlBase}{path ?? "/"}";
    }
}
