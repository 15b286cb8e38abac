using System.Net;

namespace Sluice.Server.Settings;

/// <summary>Options of the process itself, from the environment (docs/configuration.md, "The process").</summary>
internal sealed record ProcessOptions
{
    /// <summary>The user and the group of the image, where <c>PUID</c> or <c>PGID</c> is not set.</summary>
    public const uint ImageUser = 1000;

    private const long MiB = 1 << 20;

    // As many as the code that the server makes has.
    private const int MinSetupCode = 8;

    /// <summary>The data folder, absolute.</summary>
    public required string ConfigPath { get; init; }

    /// <summary>Port of the listener; 0 lets the system choose.</summary>
    public required int Port { get; init; }

    /// <summary>Address to listen on; null: all, IPv4 and IPv6.</summary>
    public required IPAddress? BindAddress { get; init; }

    /// <summary>Longest upload in bytes.</summary>
    public required long MaxRequestBodySize { get; init; }

    /// <summary>PEM file of the certificate; null for plain HTTP.</summary>
    public required string? TlsCertFile { get; init; }

    /// <summary>PEM file of its key; set exactly when <see cref="TlsCertFile"/> is.</summary>
    public required string? TlsKeyFile { get; init; }

    /// <summary>Allows <c>webdav.no-auth-networks</c> to have an effect.</summary>
    public required bool DisableWebDavAuth { get; init; }

    /// <summary>Ends the process when a block of the engine is used after it was returned to its pool: for development of the engine.</summary>
    public required bool ChecksBlocks { get; init; }

    /// <summary>Which state of the database one start goes on with, though it does not fit the stored NZBs; null for none.</summary>
    public required string? AcceptDatabase { get; init; }

    /// <summary>Whether the library of an old server in the data folder is imported without being asked for.</summary>
    public required bool Imports { get; init; }

    /// <summary>Name of the administrator that a start without one makes.</summary>
    public required string AdminUser { get; init; }

    /// <summary>That administrator's password, judged, or its hash; null to have the setup ask for it.</summary>
    public required string? AdminPassword { get; init; }

    /// <summary>Asks for the administrator's login to be removed, once.</summary>
    public required bool ResetAdminPassword { get; init; }

    /// <summary>The code of the setup; null for a random one.</summary>
    public required string? SetupCode { get; init; }

    /// <summary>The user and group that a process started as root goes on as (S28); null to stay root.</summary>
    public required (uint User, uint Group)? RunAs { get; init; }

    /// <summary>The rights that files outside of the data folder are made without, as umask(2) has them.</summary>
    public required int Umask { get; init; }

    /// <summary>Whether the listener speaks HTTPS.</summary>
    public bool UsesTls => TlsCertFile is not null;

    /// <summary>Up to which level of instructions a build may be taken that is wider than the one that was started; null for all.</summary>
    public static string? ReadInstructions(ProcessEnvironment environment) => environment.Get("SLUICE_INSTRUCTIONS");

    /// <summary>Whether a text can be the code of the setup. Only its letters and digits count.</summary>
    public static bool IsSetupCode(string text) => text.Count(char.IsLetterOrDigit) >= MinSetupCode;

    /// <summary>Reads the variables; what cannot be used is replaced and becomes a warning of the environment.</summary>
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
