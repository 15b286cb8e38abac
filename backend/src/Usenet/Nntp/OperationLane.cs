namespace Sluice.Usenet.Nntp;

/// <summary>Why an article is fetched. Lower values overtake higher ones.</summary>
public enum OperationLane : byte
{
    /// <summary>A viewer watches, or a client downloads.</summary>
    Playback,

    /// <summary>A release is being added.</summary>
    Import,

    /// <summary>Articles are checked in the background.</summary>
    HealthCheck,
}
