namespace Sluice.Server.Settings;

/// <summary>Logins of the administrator (<c>auth.*</c>).</summary>
internal sealed record AuthOptions
{
    /// <summary>A session ends when it was not used for this long.</summary>
    public required TimeSpan SessionTime { get; init; }

    /// <summary>Whether cookies go over HTTPS alone; null: as the request came.</summary>
    public bool? SecureCookies { get; init; }

    /// <summary>Takes the values in force.</summary>
    public static AuthOptions Read(EffectiveSettings settings) => new()
    {
        SessionTime = TimeSpan.FromDays(settings.Number("auth.session-days")),
        SecureCookies = settings.Text("auth.secure-cookies") switch { "always" => true, "never" => false, _ => null },
    };
}
