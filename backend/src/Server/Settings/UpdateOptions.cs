namespace Sluice.Server.Settings;

/// <summary>Notifications of newer versions (<c>updates.*</c>).</summary>
internal sealed record UpdateOptions
{
    /// <summary>Address of a JSON file that states the newest version; null to send no requests.</summary>
    public required Uri? Feed { get; init; }

    public static UpdateOptions Read(EffectiveSettings settings) =>
        new() { Feed = settings.Text("updates.feed-url") is { Length: > 0 } address ? new Uri(address) : null };
}
