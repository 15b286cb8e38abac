using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>A path that the first start prints beside the credentials.</summary>
internal interface IWelcomePath
{
    /// <summary>A label of one or two words.</summary>
    string Title { get; }

    /// <summary>Its path in the tree, percent-encoded and beginning with a slash; null when there is nothing to show.</summary>
    string? Path { get; }
}

/// <summary>Brings settings and login of a server that was here before.</summary>
internal interface IFormerServer
{
    /// <summary>The settings by their keys, where they are wanted, before any secret is made. Saves nothing yet; what goes wrong is told in the log.</summary>
    Task<IReadOnlyDictionary<string, string?>> ReadAsync(CancellationToken cancellationToken);

    /// <summary>Saves settings and login that were wanted, before a setup begins.</summary>
    Task SaveAsync(CancellationToken cancellationToken);
}

/// <summary>
/// Makes the secrets that are not set and prints them once, when the listener runs, and the way to the setup until there is an
/// administrator.
/// </summary>
internal sealed class FirstStart(
    SluiceDatabase database,
    SettingsStore store,
    SettingsSource settings,
    ProcessOptions process,
    IServer server,
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

    /// <inheritdoc/>
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
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
            // Damage shows as early as this: the rest of the server explains it.
            return;
        }

        if (IsOpen("webdav.pass"))
            _made["webdav.pass"] = MadePassword.Make();
        foreach (var key in SettingSchema.MadeKeys.Where(IsOpen))
            _made[key] = SettingSchema.MakeKey();
        foreach (var (key, value) in _made)
            values[key] = value;
        await store.UseUnsavedAsync(values, cancellationToken);

        // Never over a value that is locked: the key file may come back (CFG-53).
        bool IsOpen(string key) => settings.Current[key] is { Value: "", IsLocked: false } && !values.ContainsKey(key);
    }

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Saves and prints only now: a start that fails before, for example at a taken port, leaves no secrets that were never shown.</summary>
    public async Task StartedAsync(CancellationToken cancellationToken)
    {
        await PrintAsync([$"Sluice serves WebDAV at {Url(null, null)}"]);
        if (!database.IsOpen)
            return;
        foreach (var former in formerServers)
            await notes.WriteAsync("the settings of the old server", former.SaveAsync, cancellationToken);
        await notes.WriteAsync("the password reset", reset.ApplyAsync, cancellationToken);
        await notes.WriteAsync("the administrator's login", BeginSetupAsync, cancellationToken);
        await notes.WriteAsync("the generated passwords and keys", SaveMadeAsync, cancellationToken);
        await notes.WriteAsync("the code of the setup", _ => PrintSetupAsync(), cancellationToken);
    }

    /// <inheritdoc/>
    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Makes the administrator of the environment if there is none; without one, begins the setup.</summary>
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

    /// <summary>Saves the secrets before it prints them: the next start must know them.</summary>
    private async Task SaveMadeAsync(CancellationToken cancellationToken)
    {
        // A value that was saved through the API while the storage took none of these is kept.
        var made = _made.Where(value => settings.Current.Text(value.Key) == value.Value).ToDictionary();
        if (made.Count == 0)
            return;
        if (await store.SaveAsync(made, cancellationToken) is { Count: > 0 } errors)
            throw new InvalidOperationException($"made values that the settings refuse: {string.Join(", ", errors.Keys)}");
        // The key of links is not printed: it is never typed.
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

    // The host is that of the browser, which a container does not know (S7).
    private Task PrintSetupAsync() => setupCode.Current is { } code
        ? PrintAsync([$"Set it up in a browser, at this machine's address and :{Port}{general.CurrentValue.UrlBase}/setup#{code}"])
        : Task.CompletedTask;

    // Not through the log, which would mask secrets.
    private static Task PrintAsync(IEnumerable<string> lines) => Console.Out.WriteLineAsync(string.Join(Environment.NewLine, lines));

    private int Port => server.Features.Get<IServerAddressesFeature>()?.Addresses.FirstOrDefault() is { } listening
        ? BindingAddress.Parse(listening).Port
        : process.Port;

    private string Url(string? password, string? path)
    {
        var host = process.BindAddress is not { } address || address.Equals(System.Net.IPAddress.Any) || address.Equals(System.Net.IPAddress.IPv6Any) ? "localhost" : address.ToString();
        var credentials = password is null ? "" : $"{Uri.EscapeDataString(webDav.CurrentValue.User)}:{Uri.EscapeDataString(password)}@";
        return $"{(process.UsesTls ? "https" : "http")}://{credentials}{(host.Contains(':', StringComparison.Ordinal) ? $"[{host}]" : host)}:{Port}{general.CurrentValue.UrlBase}{path ?? "/"}";
    }
}
