using System.Net;

namespace Sluice.Server.Settings;

/// <summary>Process options from the environment (docs/configuration.md, "The process").</summary>
internal sealed record ProcessOptions
{
    /// <summary>User and group of the container image, used without <c>PUID</c> or <c>PGID</c>.</summary>
    public const uint ImageUser = 1000;

    private const long MiB = 1 << 20;

    // Same length as generated codes.
    private const int MinSetupCode = 8;

    public required string ConfigPath { get; init; }

    /// <summary>Listener port; 0 for any free port.</summary>
    public required int Port { get; init; }

    /// <summary>Port to print in addresses if a container engine publishes a different one; null for the listener port.</summary>
    public required int? PublishedPort { get; init; }

    /// <summary>Listener address; null for all addresses of both IP versions.</summary>
    public required IPAddress? BindAddress { get; init; }

    public required long MaxRequestBodySize { get; init; }

    /// <summary>PEM file with the certificate; null for plain HTTP.</summary>
    public required string? TlsCertFile { get; init; }

    /// <summary>PEM file with the private key; null if and only if <see cref="TlsCertFile"/> is null.</summary>
    public required string? TlsKeyFile { get; init; }

    /// <summary>Whether <c>webdav.no-auth-networks</c> takes effect.</summary>
    public required bool DisableWebDavAuth { get; init; }

    /// <summary>Whether to end the process if an engine block is used after its return to the pool; for engine development.</summary>
    public required bool ChecksBlocks { get; init; }

    /// <summary>Id of a database mismatch to accept at this startup; null for none.</summary>
    public required string? AcceptDatabase { get; init; }

    /// <summary>Whether to import the library of an old server found in the data folder.</summary>
    public required bool Imports { get; init; }

    /// <summary>Name of the administrator to create if there is none.</summary>
    public required string AdminUser { get; init; }

    /// <summary>That administrator's password or hash, already validated; null if the setup asks for a password.</summary>
    public required string? AdminPassword { get; init; }

    public required bool ResetAdminPassword { get; init; }

    /// <summary>The setup code; null to generate one.</summary>
    public required string? SetupCode { get; init; }

    /// <summary>User and group to switch to if started as root (S28); null to stay root.</summary>
    public required (uint User, uint Group)? RunAs { get; init; }

    /// <summary>The umask(2) for files created outside the data folder.</summary>
    public required int Umask { get; init; }

    public bool UsesTls => TlsCertFile is not null;

    /// <summary>Returns the widest instruction set whose build may replace this one at startup; null for any.</summary>
    public static string? ReadInstructions(ProcessEnvironment environment) => environment.Get("SLUICE_INSTRUCTIONS");

    /// <summary>Whether a string is long enough as a setup code, counting only letters and digits.</summary>
    public static bool IsSetupCode(string text) => text.Count(char.IsLetterOrDigit) >= MinSetupCode;

    /// <summary>Reads the variables. An invalid value is replaced and adds a warning.</summary>
    public static ProcessOptions Read(ProcessEnvironment environment)
    {
        if (environment.Get("ASPNETCORE_URLS") is not null)
            environment.Warn("ASPNETCORE_URLS is ignored; use PORT and BIND_ADDRESS");

        var (certificate, key) = (environment.Get("TLS_CERT_FILE"), environment.Get("TLS_KEY_FILE"));
        if (certificate is null != key is null)
        {
            environment.Warn("TLS needs both TLS_CERT_FILE and TLS_KEY_FILE; serving plain HTTP");
            (certificate, key) = (null, null);
        }

        return new ProcessOptions
        {
            ConfigPath = Path.GetFullPath(environment.Get("CONFIG_PATH") ?? "data"),
            Port = (int)environment.GetNumber("PORT", 0, 65_535, 3000),
            PublishedPort = environment.Get("PUBLISHED_PORT") is null ? null : (int)environment.GetNumber("PUBLISHED_PORT", 1, 65_535, 3000),
            BindAddress = ReadAddress(environment),
            MaxRequestBodySize = environment.GetNumber("MAX_REQUEST_BODY_SIZE", 1 * MiB, 1024 * MiB, 300 * MiB),
            TlsCertFile = certificate,
            TlsKeyFile = key,
            DisableWebDavAuth = environment.GetBoolean("DISABLE_WEBDAV_AUTH"),
            ChecksBlocks = environment.GetBoolean("CHECK_BLOCKS"),
            AcceptDatabase = environment.Get("SLUICE_ACCEPT_DATABASE"),
            Imports = environment.GetBoolean("SLUICE_IMPORT"),
            AdminUser = environment.Get("SLUICE_ADMIN_USER") ?? "admin",
            AdminPassword = ReadAdminPassword(environment),
            ResetAdminPassword = environment.GetBoolean("RESET_ADMIN_PASSWORD"),
            SetupCode = ReadSetupCode(environment),
            RunAs = environment.Get("PUID") is null && environment.Get("PGID") is null
                ? null
                : ((uint)environment.GetNumber("PUID", 0, int.MaxValue, ImageUser), (uint)environment.GetNumber("PGID", 0, int.MaxValue, ImageUser)),
            Umask = ReadUmask(environment),
        };
    }

    private static string? ReadAdminPassword(ProcessEnvironment environment)
    {
        var text = environment.Get("SLUICE_ADMIN_PASSWORD");
        if (text is null || PasswordHash.IsHash(text) || ChosenPassword.Judge(text) is not null)
            return text;

        environment.Warn($"SLUICE_ADMIN_PASSWORD must be {ChosenPassword.Rule}; it has no effect, and without an administrator the setup asks for a password");
        return null;
    }

    private static string? ReadSetupCode(ProcessEnvironment environment)
    {
        var text = environment.Get("SLUICE_SETUP_CODE");
        if (text is null || IsSetupCode(text))
            return text;

        environment.Warn($"SLUICE_SETUP_CODE must have at least {MinSetupCode} letters or digits; using a random code");
        return null;
    }

    private static int ReadUmask(ProcessEnvironment environment)
    {
        const int usual = 0b000_010_010;
        var text = environment.Get("UMASK");
        if (text is null || text is { Length: <= 4 } && text.All(digit => digit is >= '0' and <= '7'))
            return text is null ? usual : Convert.ToInt32(text, 8) & 0b111_111_111;

        environment.Warn("UMASK is no octal number such as 022; using 022");
        return usual;
    }

    private static IPAddress? ReadAddress(ProcessEnvironment environment)
    {
        if (environment.Get("BIND_ADDRESS") is not { } text || text is "*")
            return null;

        if (text.Equals("localhost", StringComparison.OrdinalIgnoreCase))
            return IPAddress.Loopback;

        if (IPAddress.TryParse(text, out var address))
            return address;

        environment.Warn("BIND_ADDRESS is no IP address; listening on all addresses");
        return null;
    }
}
