namespace Sluice.Server.WebDav;

internal static class StoreStatus
{
    public static int For(StoreAnswer answer) => answer switch
    {
        StoreAnswer.Created => StatusCodes.Status201Created,
        StoreAnswer.Done => StatusCodes.Status204NoContent,
        StoreAnswer.Malformed => StatusCodes.Status400BadRequest,
        StoreAnswer.Forbidden => StatusCodes.Status403Forbidden,
        StoreAnswer.NotFound => StatusCodes.Status404NotFound,
        StoreAnswer.TooSlow => StatusCodes.Status408RequestTimeout,
        StoreAnswer.Conflict => StatusCodes.Status409Conflict,
        StoreAnswer.AlreadyExists => StatusCodes.Status412PreconditionFailed,
        StoreAnswer.TooLarge => StatusCodes.Status413PayloadTooLarge,
        StoreAnswer.NoSpace => StatusCodes.Status507InsufficientStorage,
        _ => throw new ArgumentOutOfRangeException(nameof(answer), answer, "Unknown answer."),
    };
}
