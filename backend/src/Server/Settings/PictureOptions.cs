namespace Sluice.Server.Settings;

/// <summary>Pictures of films in the web UI (<c>ui.*</c>).</summary>
internal sealed record PictureOptions
{
    private const long MiB = 1 << 20;

    /// <summary>Maximum bytes of all pictures on disk; 0 to keep and show none.</summary>
    public required long MaxBytes { get; init; }

    /// <summary>Whether posters are fetched from Sonarr and Radarr.</summary>
    public required bool FetchesPosters { get; init; }

    public static PictureOptions Read(EffectiveSettings settings) => new()
    {
        MaxBytes = settings.Number("ui.pictures-max-mb") * MiB,
        FetchesPosters = settings.Boolean("ui.arr-posters") && settings.Number("ui.pictures-max-mb") > 0,
    };
}
