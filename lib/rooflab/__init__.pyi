__version__: str

from rooflab import live as live, show as show
from rooflab.count.attention import attention as attention
from rooflab.count.blas import axpy as axpy, dot as dot, gemm as gemm, gemv as gemv, ger as ger
from rooflab.count.blas import outer as outer, scale as scale
from rooflab.count.conv import conv2d as conv2d, pool2d as pool2d
from rooflab.count.dtypes import DType as DType, dtype as dtype
from rooflab.count.elementwise import chain as chain, elementwise as elementwise
from rooflab.count.operation import Operand as Operand, Operation as Operation
from rooflab.count.si import si as si
from rooflab.exercises.ask import ask as ask
from rooflab.exercises.check import check as check
from rooflab.exercises.guesses import guess as guess, reveal as reveal, show_me as show_me
from rooflab.exercises.mine import mine as mine
from rooflab.exercises.my_guesses import my_guesses as my_guesses
from rooflab.exercises.progress import progress as progress
from rooflab.exercises.sentences import conclude as conclude
from rooflab.exercises.sorting import sort as sort
from rooflab.labs import cache as cache, fusion as fusion, loops as loops, memory as memory, search as search
from rooflab.labs import cuda as cuda, precision as precision, sparse as sparse
from rooflab.labs.golf.score import Golf as Golf, golf as golf
from rooflab.labs.llm.catalogue import model as model, models as models
from rooflab.labs.llm.decode_loop import DecodeRun as DecodeRun, decode_loop as decode_loop
from rooflab.labs.llm.decode_loop import loop_weights as loop_weights
from rooflab.labs.llm.decode_prediction import DecodePrediction as DecodePrediction
from rooflab.labs.llm.decode_prediction import decode_recording as decode_recording
from rooflab.labs.llm.decode_prediction import loop_efficiency as loop_efficiency
from rooflab.labs.llm.decode_prediction import predict_decode as predict_decode
from rooflab.labs.llm.decode_prediction import record_decode as record_decode
from rooflab.labs.llm.model import Model as Model
from rooflab.labs.llm.transformer import loop_model as loop_model
from rooflab.labs.llm.workload import Workload as Workload
from rooflab.lecture.present import lecture as lecture
from rooflab.measure.free_lunch import FreeLunch as FreeLunch, free_lunch as free_lunch
from rooflab.measure.measure import measure as measure
from rooflab.measure.measurement import Measurement as Measurement
from rooflab.measure.record import record as record
from rooflab.measure.recording import recording as recording, recordings as recordings
from rooflab.measure.this_machine import explain as explain, this_machine as this_machine
from rooflab.measure.this_machine import this_machine_async as this_machine_async
from rooflab.predict.catalogue import machine as machine, machines as machines
from rooflab.predict.estimate import Prediction as Prediction, predict as predict
from rooflab.predict.explain import Explanation as Explanation
from rooflab.predict.machine import Figure as Figure, Machine as Machine
from rooflab.predict.published import published as published
from rooflab.predict.roofline import HierarchicalRoofline as HierarchicalRoofline
from rooflab.predict.roofline import Roofline as Roofline
