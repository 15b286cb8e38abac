namespace Sluice.Server.Settings;

internal sealed record AuthOptions
{
    /// <summary>How long a session may be idle before it ends.</summary>
    public required TimeSpan SessionTime { get; init; }

    /// <summary>Whether cookies require HTTPS; null if each request decides.</summary>
    public bool? SecureCookies { get; init; }

    public static AuthOptions Read(EffectiveSettings settings) => new()
    {
        SessionTime = TimeSpan.FromDays(settings.Number("auth.session-days")),
        SecureCookies = settings.Text("auth.secure-cookies") switch { "always" => true, "never" => false, _ => null },
    };
}
